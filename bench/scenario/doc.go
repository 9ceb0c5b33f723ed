// Package scenario has what is measured: each file one scenario of the
// project's list (S2, S4, S7, S10, S12, S13), with the aims that are set for it.
//
// A scenario fills rows of a report. Where a figure has a floor, broker and
// floor are measured in turn, A B A B, each sample in a fresh process with a
// fresh directory unless the scenario says otherwise; the row carries minimum,
// median and maximum of both, the ratio of the medians and the range of the
// pairwise ratios. A claim needs the worst pair on the right side of its aim.
//
// Nothing here runs beside anything else: scenarios and samples follow each
// other. Start with Run, then s2.go.
package scenario
