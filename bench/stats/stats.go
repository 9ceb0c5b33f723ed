// Package stats puts repeated measurements into the few numbers that may be
// claimed: minimum, median and maximum of each side, the ratio of the medians
// and the range of the pairwise ratios. It is pure.
package stats

import (
	"math"
	"slices"
)

// Summary is one side of a comparison.
type Summary struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
}

// Summarize sorts out samples. No samples give zeros.
func Summarize(samples []float64) Summary {
	if len(samples) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	return Summary{Min: sorted[0], Median: middle(sorted), Max: sorted[len(sorted)-1], N: len(sorted)}
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Percentile is the smallest sample that at least p of all (0 to 1) do not
// exceed. samples must be sorted.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Ratio compares ours to theirs, measured in turn: A B A B.
type Ratio struct {
	OfMedians float64 `json:"ofMedians"`
	Best      float64 `json:"best"`  // the lowest of a pair
	Worst     float64 `json:"worst"` // the highest of a pair
}

// Compare divides a by b, pair by pair. It is zero without pairs.
func Compare(a, b []float64) Ratio {
	n := min(len(a), len(b))
	if n == 0 {
		return Ratio{}
	}
	r := Ratio{Best: math.Inf(1)}
	for i := range n {
		if b[i] > 0 {
			r.Best = min(r.Best, a[i]/b[i])
			r.Worst = max(r.Worst, a[i]/b[i])
		}
	}
	if median := Summarize(b).Median; median > 0 {
		r.OfMedians = Summarize(a).Median / median
	}
	if math.IsInf(r.Best, 1) {
		r.Best = 0
	}
	return r
}
