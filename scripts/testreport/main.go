// Command testreport reads what `go test -json` writes and prints what somebody
// who waits for a build wants to know: the line of each package, the output of
// what failed, and at the end what was skipped, with the reason. `go test` by
// itself does not tell of skipped tests.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := report(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}

// event is a line of `go doc test2json`; ImportPath is that of a build's output.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// test is the name of a test within its package; without a test, the package.
type test struct{ pkg, name string }

// report copies what matters from in to out.
func report(in io.Reader, out io.Writer) error {
	output := make(map[test][]string)
	var skipped []string
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(out, lines.Text()) // not from test2json: a tool's own words
			continue
		}
		of := test{e.Package, e.Test}
		switch {
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "output":
			output[of] = append(output[of], e.Output)
			continue
		case e.Action == "fail", e.Action == "pass" && e.Test == "", e.Action == "skip" && e.Test == "":
			for _, line := range output[of] {
				if e.Test != "" || strings.TrimSpace(line) != "PASS" {
					fmt.Fprint(out, line)
				}
			}
		case e.Action == "skip":
			skipped = append(skipped, fmt.Sprintf("  %s %s: %s", e.Package, e.Test, reason(output[of])))
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(output, of)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(skipped) > 0 {
		slices.Sort(skipped)
		fmt.Fprintf(out, "skipped here:\n%s\n", strings.Join(skipped, "\n"))
	}
	return nil
}

// reason is the last thing that a skipped test said itself.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, after, ok := strings.Cut(line, ".go:"); ok { // file.go:12: reason
			if _, words, ok := strings.Cut(after, ": "); ok {
				return words
			}
		}
		return line
	}
	return "no reason given"
}
