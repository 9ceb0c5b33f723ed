package config

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/magiconair/properties"
)

// maxFileBytes bounds a configuration file. Kafka's own, with every setting
// and its documentation, would take a fifth of it.
const maxFileBytes = 1 << 20

// assignment is one key and its value, with the place where they stand.
type assignment struct {
	key, value string
	origin     Origin
}

// readProperties reads a file in the syntax of Java's Properties. A key that
// stands there twice is given twice.
func readProperties(path string) ([]assignment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration %s: %w", path, err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("read the configuration %s: larger than %d bytes; is it a properties file?", path, maxFileBytes)
	}
	return parseProperties(path, string(text))
}

// parseProperties splits the text into logical lines and has each read by
// itself. The library keeps neither line numbers nor repeated keys, and both
// are wanted for messages.
func parseProperties(path, text string) ([]assignment, error) {
	var out []assignment
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	for line, rest := 1, text; rest != ""; {
		logical, after := cutLogicalLine(rest)
		taken := rest[:len(rest)-len(after)]
		if logical != "" {
			p, err := loader.LoadBytes([]byte(logical))
			if err != nil {
				reason := strings.TrimPrefix(err.Error(), "properties: Line 1: ")
				return nil, fmt.Errorf("%s:%d: not in the syntax of a properties file: %s", path, line, reason)
			}
			for _, k := range p.Keys() {
				v, _ := p.Get(k)
				out = append(out, assignment{k, v, Origin{File: path, Line: line}})
			}
		}
		line += countLines(taken)
		rest = after
	}
	return out, nil
}

// cutLogicalLine takes the first logical line off text: a natural line and
// those it is continued on by a backslash at its end, joined as Java joins
// them. Comments and blank lines come out empty; they are never continued.
func cutLogicalLine(text string) (logical, rest string) {
	const blank = " \t\f"
	end := naturalLine(text)
	line, rest := text[:end], skipNewline(text[end:])
	first := strings.TrimLeft(line, blank)
	if first == "" || first[0] == '#' || first[0] == '!' {
		return "", rest
	}
	var b strings.Builder
	for oddBackslashes(line) && rest != "" {
		b.WriteString(line[:len(line)-1])
		end = naturalLine(rest)
		line, rest = strings.TrimLeft(rest[:end], blank), skipNewline(rest[end:])
	}
	b.WriteString(line)
	return b.String(), rest
}

// naturalLine is the length of the first line, without its end.
func naturalLine(text string) int {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

func skipNewline(text string) string {
	if rest, ok := strings.CutPrefix(text, "\r\n"); ok {
		return rest
	}
	if text == "" {
		return text
	}
	return text[1:]
}

func oddBackslashes(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// countLines counts the line ends of a text: \n, \r, or both together.
func countLines(text string) int {
	return strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}
