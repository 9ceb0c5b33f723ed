// Command bench measures the broker beside the least that any program must do
// for the same bytes, in the same run, and says whether the project's aims are
// met.
//
//	go run ./bench                       every scenario, at most 6 minutes
//	go run ./bench -quick                the same in at most 90 seconds, for a look
//	go run ./bench -run S2,S7            some
//	go run ./bench -barnabas null        the generator's ceiling: against a broker that keeps nothing
//
// It prints a table and writes JSON to bench/out. The rules are those of the
// project's performance notes: broker and floor in turn, CPU seconds of the
// whole process, medians with the range of pairwise ratios, schedule-based
// latency, and what disturbed the machine beside each figure.
//
// Packages: scenario (what is measured), replay (the load), frames (requests as
// bytes), floor (what is measured beside the broker), proc (processes and the
// machine), stats. Start reading in scenario.
package main
