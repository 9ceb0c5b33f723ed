package config

import (
	"math"
	"time"
)

// view looks values up in layers of text, the strongest first, and then among
// the defaults. A setting and its synonyms are one: a layer that has any of
// them hides what weaker layers say about all of them.
type view struct{ layers []map[string]string }

// synonymGroups are broker settings that say the same in other units, the one
// that wins within a layer first.
var synonymGroups = [][]string{
	{"log.roll.ms", "log.roll.hours"},
	{"log.roll.jitter.ms", "log.roll.jitter.hours"},
	{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
}

var groupOf = func() map[string][]string {
	m := map[string][]string{"log.flush.interval.ms": {"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}}
	for _, g := range synonymGroups {
		for _, n := range g {
			m[n] = g
		}
	}
	return m
}()

// brokerSynonyms lists a broker setting's name and the others that DescribeConfigs
// shows beside it, the strongest first.
func brokerSynonyms(name string) []string {
	if g := groupOf[name]; g != nil {
		return g
	}
	if base, ok := listenerOverride(name); ok {
		return []string{name, base}
	}
	return []string{name}
}

// text gives the text in force for one name; ok is false if only a default is
// left.
func (v view) text(name string) (text string, ok bool) {
	group := groupOf[name]
	for _, l := range v.layers {
		if t, ok := l[name]; ok {
			return t, true
		}
		for _, g := range group {
			if _, ok := l[g]; ok {
				return "", false
			}
		}
	}
	return "", false
}

// get gives the value in force. A text that cannot be read counts as absent:
// what was loaded or accepted can be read.
func (v view) get(name string) value {
	s := brokerByName[name]
	if s == nil {
		panic("config: no broker setting " + name)
	}
	if t, ok := v.text(name); ok {
		if val, _, problem := s.read(t); problem == "" {
			return val
		}
	}
	return brokerDefaults[name]
}

func (v view) long(name string) int64       { return v.get(name).num }
func (v view) int(name string) int32        { return int32(v.get(name).num) }
func (v view) short(name string) int16      { return int16(v.get(name).num) }
func (v view) boolean(name string) bool     { return v.get(name).flag }
func (v view) double(name string) float64   { return v.get(name).real }
func (v view) string(name string) string    { return v.get(name).text }
func (v view) strings(name string) []string { return v.get(name).list }

// millis gives a setting in milliseconds as a duration.
func (v view) millis(name string) time.Duration { return duration(v.long(name), time.Millisecond) }

// duration multiplies without overflow.
func duration(n int64, unit time.Duration) time.Duration {
	if n > math.MaxInt64/int64(unit) {
		return math.MaxInt64
	}
	if n < math.MinInt64/int64(unit) {
		return math.MinInt64
	}
	return time.Duration(n) * unit
}

const (
	millisInMinute = 60 * 1000
	millisInHour   = 60 * millisInMinute
)

// retentionMillis is the time logs are kept; -1 is for ever.
func (v view) retentionMillis() int64 {
	ms := v.long("log.retention.hours") * millisInHour
	if t := v.get("log.retention.ms"); t.set {
		ms = t.num
	} else if t := v.get("log.retention.minutes"); t.set {
		ms = t.num * millisInMinute
	}
	return max(ms, -1)
}

func (v view) rollMillis() int64 {
	if t := v.get("log.roll.ms"); t.set {
		return t.num
	}
	return v.long("log.roll.hours") * millisInHour
}

func (v view) rollJitterMillis() int64 {
	if t := v.get("log.roll.jitter.ms"); t.set {
		return t.num
	}
	return v.long("log.roll.jitter.hours") * millisInHour
}

func (v view) flushMillis() int64 {
	if t := v.get("log.flush.interval.ms"); t.set {
		return t.num
	}
	return v.long("log.flush.scheduler.interval.ms")
}

// timestampBound is a bound of time stamps in one direction; the deprecated
// one for both directions stands in for its default.
func (v view) timestampBound(name string) int64 {
	if n := v.long(name); n != math.MaxInt64 {
		return n
	}
	return v.long("log.message.timestamp.difference.max.ms")
}
