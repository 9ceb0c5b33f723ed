package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
)

// A rule narrows the values of a setting beyond its type.
type rule interface {
	// check says in Kafka's words what is wrong with a value, and how Kafka's
	// message shows the value. problem is empty if nothing is wrong.
	check(s *Setting, v value) (shown, problem string)
	// String describes the allowed values.
	String() string
}

// span allows numbers from min to max. A missing bound is empty; the bounds
// are text because Kafka's messages show them as declared.
type span struct {
	min, max       float64
	minText, above string
}

func atLeast(n int64) rule {
	return span{min: float64(n), minText: strconv.FormatInt(n, 10)}
}

func between(least, most float64) rule {
	return span{least, most, strconv.FormatFloat(least, 'f', -1, 64), strconv.FormatFloat(most, 'f', -1, 64)}
}

func (r span) check(s *Setting, v value) (string, string) {
	n := float64(v.num)
	if s.Type == Double {
		n = v.real
	}
	switch {
	case n < r.min:
		return v.text, "Value must be at least " + r.minText
	case r.above != "" && n > r.max:
		return v.text, "Value must be no more than " + r.above
	}
	return v.text, ""
}

func (r span) String() string {
	if r.above == "" {
		return "[" + r.minText + ",...]"
	}
	return "[" + r.minText + ",...," + r.above + "]"
}

// choice allows some words, for a list each of its parts.
type choice struct {
	words    []string
	anyCased bool
}

func oneOf(words ...string) rule { return choice{words: words} }

func anyCase(words ...string) rule { return choice{words, true} }

func (r choice) check(s *Setting, v value) (string, string) {
	parts := v.list
	if s.Type != List {
		parts = []string{v.text}
	}
	for _, p := range parts {
		if r.anyCased {
			if !slices.Contains(r.words, strings.ToUpper(p)) {
				return p, "String must be one of (case insensitive): " + strings.Join(r.words, ", ")
			}
		} else if !slices.Contains(r.words, p) {
			return p, "String must be one of: " + strings.Join(r.words, ", ")
		}
	}
	return v.text, ""
}

func (r choice) String() string { return "[" + strings.Join(r.words, ", ") + "]" }

// level allows a codec's levels, or -1 for its default.
type codecLevel struct{ min, max int64 }

func level(least, most int64) rule { return codecLevel{least, most} }

func (r codecLevel) check(_ *Setting, v value) (string, string) {
	if v.num != -1 && (v.num < r.min || v.num > r.max) {
		return v.text, "Value must be between " + strconv.FormatInt(r.min, 10) + " and " + strconv.FormatInt(r.max, 10) + " or equal to -1"
	}
	return v.text, ""
}

func (r codecLevel) String() string {
	return "[" + strconv.FormatInt(r.min, 10) + ",...," + strconv.FormatInt(r.max, 10) + "] or -1"
}

// poolSize allows a number of threads, or -1 to follow another setting.
type poolSize struct{}

func (poolSize) check(_ *Setting, v value) (string, string) {
	if v.num != -1 && v.num < 1 {
		return v.text, "Value can be -1 or greater than 0"
	}
	return v.text, ""
}

func (poolSize) String() string { return "[1,...] or -1" }

// notEmpty allows any text but none.
type notEmpty struct{}

func (notEmpty) check(_ *Setting, v value) (string, string) {
	if v.text == "" {
		return v.text, "String must be non-empty"
	}
	return v.text, ""
}

func (notEmpty) String() string { return "non-empty text" }

// throttledReplicas allows partition:broker pairs, or one * for all replicas.
type throttledReplicas struct{}

const throttledForm = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."

func (throttledReplicas) check(s *Setting, v value) (string, string) {
	pairs := true
	for _, p := range v.list {
		p = trim(p)
		partition, broker, ok := strings.Cut(p, ":")
		pairs = pairs && (p == "" || ok && digits(partition) && digits(broker))
	}
	if !pairs && strings.Join(v.list, "") != "*" {
		return "[" + strings.Join(v.list, ", ") + "]",
			s.Name + " must be the literal '*' or a list of replicas in the following format: " + throttledForm
	}
	return v.text, ""
}

func (throttledReplicas) String() string { return throttledForm + " or *" }

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// hostPort allows an address to listen on, or nothing.
type hostPort struct{}

func (hostPort) check(_ *Setting, v value) (string, string) {
	if v.text == "" {
		return v.text, ""
	}
	_, port, err := net.SplitHostPort(v.text)
	if err != nil {
		return v.text, "Not an address of the form host:port"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return v.text, "The port must be from 0 to 65535"
	}
	return v.text, ""
}

func (hostPort) String() string { return "host:port, or empty" }

// releaseVersion allows the versions that Kafka 3.9 knows, such as 3.9,
// 3.9-IV0 and 3.9.1.
type releaseVersion struct{}

// releases are Kafka's versions before the suffix -IV, with the highest
// number of that suffix; -1 where there is none.
var releases = map[string]int{
	"0.8.0": -1, "0.8.1": -1, "0.8.2": -1, "0.9.0": -1, "0.10.0": 1, "0.10.1": 2, "0.10.2": 0, "0.11.0": 2, "1.0": 0, "1.1": 0,
	"2.0": 1, "2.1": 2, "2.2": 1, "2.3": 1, "2.4": 1, "2.5": 0, "2.6": 0, "2.7": 2, "2.8": 1, "3.0": 1, "3.1": 0, "3.2": 0,
	"3.3": 3, "3.4": 0, "3.5": 2, "3.6": 2, "3.7": 4, "3.8": 0, "3.9": 0, "4.0": 1,
}

func (releaseVersion) check(_ *Setting, v value) (string, string) {
	parts := strings.Split(v.text, ".")
	keep := 2
	if strings.HasPrefix(v.text, "0.") {
		keep = 3
	}
	release, suffix, has := strings.Cut(strings.Join(parts[:min(keep, len(parts))], "."), "-IV")
	highest, known := releases[release]
	if known && has {
		n, err := strconv.Atoi(suffix)
		known = err == nil && n >= 0 && n <= highest && suffix == strconv.Itoa(n)
	}
	if !known {
		return v.text, "Version " + v.text + " is not a valid version"
	}
	return v.text, ""
}

func (releaseVersion) String() string { return "a version of Kafka, 0.8.0 to 4.0-IV1" }
