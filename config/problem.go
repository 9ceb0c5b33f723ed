package config

import (
	"strconv"
	"strings"
)

// Origin is where a value was given: a line of a file, a variable of the
// environment, or neither for the command line.
type Origin struct {
	File     string
	Line     int
	Variable string
}

// String names the place as messages do.
func (o Origin) String() string {
	switch {
	case o.File != "":
		return o.File + ":" + strconv.Itoa(o.Line)
	case o.Variable != "":
		return "environment " + o.Variable
	default:
		return "--override"
	}
}

// Problem is one reason why a broker does not start with a configuration.
type Problem struct {
	// Origin is where the value was given, as text; empty if it is a default.
	Origin string
	// Key and Value are what was given. A secret is shown as [hidden].
	Key, Value string
	// Reason says what is wrong.
	Reason string
	// Allowed describes the values that would do; it may be empty.
	Allowed string
	// Remedy says what to do; it may be empty.
	Remedy string
}

// Error is the whole story in one line.
func (p *Problem) Error() string {
	var b strings.Builder
	if p.Origin != "" {
		b.WriteString(p.Origin + ": ")
	}
	b.WriteString(p.Key + "=" + p.Value + ": " + p.Reason)
	if p.Allowed != "" {
		b.WriteString(" (allowed: " + p.Allowed + ")")
	}
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// shownValue is a value as messages may have it.
func shownValue(s *Setting, raw string) string {
	if s == nil || s.Sensitive() {
		return "[hidden]"
	}
	const most = 200
	if len(raw) > most {
		return strings.ToValidUTF8(raw[:most], "") + "..."
	}
	return raw
}
