package config

import (
	"math"
	"strconv"
	"strings"
)

// value is a setting's value, parsed. The zero value is null.
type value struct {
	set  bool
	num  int64   // Int, Short, Long
	real float64 // Double
	flag bool    // Boolean
	text string  // String, Class, Password; the canonical text of the others
	list []string
}

// trim takes off what Java's String.trim does.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}

// parse reads text as a type. problem says, in Kafka's words, why it cannot be
// read; it is empty when it can.
func parse(t Type, raw string) (v value, problem string) {
	s := trim(raw)
	v = value{set: true, text: s}
	switch t {
	case Boolean:
		v.flag = strings.EqualFold(s, "true")
		if !v.flag && !strings.EqualFold(s, "false") {
			return v, "Expected value to be either true or false"
		}
		v.text = strconv.FormatBool(v.flag)
	case Int, Short, Long:
		n, err := strconv.ParseInt(s, 10, t.bits())
		if err != nil {
			return v, "Not a number of type " + t.String()
		}
		v.num, v.text = n, strconv.FormatInt(n, 10)
	case Double:
		f, err := parseDouble(s)
		if err != nil {
			return v, "Not a number of type " + t.String()
		}
		v.real, v.text = f, javaDouble(f)
	case List:
		v.list = splitList(s)
		v.text = strings.Join(v.list, ",")
	case Class:
		if s == "" {
			return v, "Class  could not be found."
		}
	case Unknown, String, Password:
	}
	return v, ""
}

// bits is the size of an integral type.
func (t Type) bits() int {
	switch t {
	case Short:
		return 16
	case Int:
		return 32
	default:
		return 64
	}
}

// parseDouble reads what Java's Double.parseDouble does, but for NaN and
// infinities, which mean nothing in a setting.
func parseDouble(s string) (float64, error) {
	if s != "" && strings.ContainsAny(s[len(s)-1:], "dDfF") && !strings.HasPrefix(strings.ToLower(s), "0x") {
		s = s[:len(s)-1]
	}
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
		err = strconv.ErrRange
	}
	return f, err
}

// javaDouble writes a number as Java's Double.toString does.
func javaDouble(f float64) string {
	if a := math.Abs(f); a == 0 || a >= 1e-3 && a < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return mantissa + "E" + sign + strings.TrimLeft(exponent[1:], "0")
}

// splitList splits at commas and takes the white space around them off. The
// empty text is the empty list; an empty part stays.
func splitList(s string) []string {
	if s == "" {
		return []string{}
	}
	parts := strings.Split(s, ",")
	last := len(parts) - 1
	for i := range parts {
		if i > 0 {
			parts[i] = strings.TrimLeft(parts[i], " \t\n\v\f\r")
		}
		if i < last {
			parts[i] = strings.TrimRight(parts[i], " \t\n\v\f\r")
		}
	}
	return parts
}

// read parses text for a setting and holds it against the rule. problem is
// empty when all is well; shown is the value as Kafka's message has it.
func (s *Setting) read(raw string) (v value, shown, problem string) {
	v, problem = parse(s.Type, raw)
	if problem != "" {
		return v, raw, problem
	}
	if s.Valid == nil {
		return v, v.text, ""
	}
	shown, problem = s.Valid.check(s, v)
	return v, shown, problem
}

// defaultValue parses the default, which a test has proved valid.
func (s *Setting) defaultValue() value {
	if !s.HasDefault() {
		return value{}
	}
	v, _ := parse(s.Type, s.Default)
	return v
}

// parsedDefaults are the values of all settings that nothing sets.
func parsedDefaults(table []Setting) map[string]value {
	m := make(map[string]value, len(table))
	for i := range table {
		m[table[i].Name] = table[i].defaultValue()
	}
	return m
}

// number is a value of an integral type.
func number(n int64) value {
	return value{set: true, num: n, text: strconv.FormatInt(n, 10)}
}

// orDifference gives a bound of time stamps, or the deprecated one for both
// directions while it is at its default.
func orDifference(bound, difference int64) int64 {
	if bound != math.MaxInt64 {
		return bound
	}
	return difference
}
