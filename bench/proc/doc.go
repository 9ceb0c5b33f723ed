// Package proc starts the processes that are measured and reads what the
// kernel knows about them and about the machine: CPU seconds of all threads
// from /proc/PID/stat, memory from /proc/PID/status, load, steal and pressure.
//
// A Child is one process. It is killed with the bench, whatever happens.
package proc
