// Package harness starts the binary as a process of its own, stops and kills it,
// and speaks to it in single requests. It is for tests only.
package harness
