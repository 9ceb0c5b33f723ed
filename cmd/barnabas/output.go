package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// output is how a verb answers: a table for people, JSON for programs.
type output struct {
	format string
}

// addFlags declares -o/--output on cmd and all below it.
func (o *output) addFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVarP(&o.format, "output", "o", "table", "how to answer: `table` or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses an unknown format. It comes before the broker is asked.
func (o *output) check(cmd *cobra.Command) error {
	if o.format != "table" && o.format != "json" {
		return usageErrorf(cmd, "--output %q: use table or json", o.format)
	}
	return nil
}

func (o *output) json() bool { return o.format == "json" }

// writeJSON writes v indented, with a newline.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeTable writes rows under their column names, aligned.
func writeTable(w io.Writer, columns []string, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(columns, "\t"))
	for _, row := range rows {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

// done is the answer of a verb that changed something.
type done struct {
	Name   string `json:"name"`
	Action string `json:"action"`
	Detail string `json:"detail,omitempty"`
}

// writeDone says what was changed.
func (o *output) writeDone(w io.Writer, changes []done) error {
	if o.json() {
		if changes == nil {
			changes = []done{}
		}
		return writeJSON(w, changes)
	}
	for _, c := range changes {
		line := c.Action + " " + c.Name
		if c.Detail != "" {
			line += ": " + c.Detail
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// joinIDs writes broker ids as Kafka's tools do: 1,2,3; "-" for none.
func joinIDs(ids []int32) string {
	if len(ids) == 0 {
		return "-"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	return strings.Join(words, ",")
}

// without is a without those of b, in a's order; never nil.
func without(a, b []int32) []int32 {
	rest := []int32{}
	for _, id := range a {
		if !slices.Contains(b, id) {
			rest = append(rest, id)
		}
	}
	return rest
}

// orDash is the number, or "-" when it could not be had.
func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// unescape reads the escapes of kcat's delimiters and formats: \n \r \t \0 \\
// and \xHH. Any other backslash stands for itself.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, size := unescapeAt(s[i:])
		b.WriteByte(c)
		i += size - 1
	}
	return b.String()
}

// unescapeAt is the byte that s begins with and how many characters spell it.
func unescapeAt(s string) (c byte, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return s[0], 1
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case '0':
		return 0, 2
	case '\\':
		return '\\', 2
	case 'x':
		if len(s) >= 4 {
			if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
				return byte(n), 4
			}
		}
	}
	return s[0], 1
}
