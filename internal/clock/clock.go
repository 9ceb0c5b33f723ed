// Package clock is the one place that reads the wall clock and starts timers.
// Components take a [Clock] in their Options; inside a testing/synctest bubble
// the System clock is the bubble's.
package clock

import "time"

// Clock tells the time and starts timers.
type Clock interface {
	// Now is the current time with a monotonic reading.
	Now() time.Time
	// NewTimer is time.NewTimer.
	NewTimer(d time.Duration) *time.Timer
	// NewTicker is time.NewTicker.
	NewTicker(d time.Duration) *time.Ticker
	// AfterFunc is time.AfterFunc.
	AfterFunc(d time.Duration, f func()) *time.Timer
}

type system struct{}

// System is the machine's clock.
func System() Clock { return system{} }

func (system) Now() time.Time                                  { return time.Now() }
func (system) NewTimer(d time.Duration) *time.Timer            { return time.NewTimer(d) }
func (system) NewTicker(d time.Duration) *time.Ticker          { return time.NewTicker(d) }
func (system) AfterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// Millis is the current time in milliseconds since the Unix epoch, the unit of
// Kafka's timestamps.
func Millis(c Clock) int64 { return c.Now().UnixMilli() }
