package scenario

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	ratio, absolute := &Aim{Most: 1.5, Ratio: true}, &Aim{Most: 10}
	for _, c := range []struct {
		name        string
		ours, floor []float64
		aim         *Aim
		want        string
	}{
		{"every pair", []float64{1, 1.5}, []float64{1, 1}, ratio, met},
		{"the medians only", []float64{1, 1, 2}, []float64{1, 1, 1}, ratio, metByMedian},
		{"none", []float64{2, 2}, []float64{1, 1}, ratio, missed},
		{"no floor", []float64{2, 2}, nil, ratio, ""},
		{"no sample", nil, nil, absolute, ""},
		{"below", []float64{9, 10}, nil, absolute, met},
		{"mostly below", []float64{9, 9, 11}, nil, absolute, metByMedian},
		{"above", []float64{11}, nil, absolute, missed},
		{"no aim", []float64{11}, nil, nil, ""},
	} {
		var r Report
		r.add(comparison{ours: c.ours, floor: c.floor, aim: c.aim})
		if got := r.Rows[0].Verdict; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	r := Report{Broker: "b", Quick: true, Congestion: map[string]string{"machine": "bbr", "generator": "cubic"}}
	r.add(comparison{scenario: "S2", what: "produce", unit: "cpu-s/GB", ours: []float64{1, 2, 3}, floor: []float64{1, 1, 1}, beside: "loop", aim: &Aim{Most: 1.5, Ratio: true}})
	r.note("S4 was skipped: %s", "no time")
	r.Rows[0].Noise.Foreign = 0.5
	r.Judge()
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"quick run", "machine bbr, generator cubic", "1.00 / 2.00 / 3.00", "loop 1.00 / 1.00 / 1.00", "2.00 (1.00 to 3.00)", "≤ 1.50×", "missed", "note: S4 was skipped: no time", "in S2 at least one sample"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, b.String())
		}
	}
}

func TestHistoryIsWholeRegions(t *testing.T) {
	t.Parallel()
	for _, partitions := range []int{1, 6} {
		h := newHistory(500_000_000, partitions)
		size := len(h.batch.Bytes)
		if h.region%size != 0 || h.region > 1<<20 || (h.batches*size)%h.region != 0 {
			t.Errorf("%d partitions: batches of %d, %d in each, regions of %d", partitions, size, h.batches, h.region)
		}
	}
}
