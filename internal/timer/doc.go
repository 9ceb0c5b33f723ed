// Package timer is one coarse hashed timing wheel for deadlines that are many,
// short and mostly cancelled: waiting fetches and produces.
//
// An [Entry] is embedded in the thing that waits, so adding and cancelling are
// O(1) and allocate nothing. Deadlines are rounded up to the next tick; an
// entry never fires early. One goroutine, [Wheel.Run], sleeps until the first
// slot that holds anything is due and sleeps without any timer at all while the
// wheel is empty, so an idle broker uses no CPU.
//
// Invariants: an entry is in at most one slot; its Expire is called at most
// once for each Add, on Run's goroutine and outside the wheel's lock, and never
// after a Cancel that returned true. Add and Cancel may be called from any
// goroutine, from inside Expire too.
//
// Start reading at [Wheel.Add].
package timer
