package stats

import "testing"

func TestSummarize(t *testing.T) {
	t.Parallel()
	if got, want := Summarize([]float64{3, 1, 2}), (Summary{1, 2, 3, 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := Summarize([]float64{4, 1, 2, 3}), (Summary{1, 2.5, 4, 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Summarize(nil); got != (Summary{}) {
		t.Errorf("%+v", got)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for p, want := range map[float64]float64{0: 1, 0.5: 50, 0.99: 99, 0.999: 100, 1: 100} {
		if got := Percentile(hundred, p); got != want {
			t.Errorf("p%v = %v, want %v", p, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	got := Compare([]float64{2, 4, 9}, []float64{1, 2, 3})
	if want := (Ratio{OfMedians: 2, Best: 2, Worst: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Compare([]float64{1}, []float64{0}); got != (Ratio{}) {
		t.Errorf("division by zero: %+v", got)
	}
}
