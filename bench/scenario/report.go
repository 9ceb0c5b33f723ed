package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"barnabas/bench/proc"
	"barnabas/bench/stats"
)

// Report is one run's result.
type Report struct {
	Started    time.Time         `json:"started"`
	Seconds    float64           `json:"seconds"`
	Broker     string            `json:"broker"`
	Quick      bool              `json:"quick"`
	CPUs       int               `json:"cpus"`
	Kernel     string            `json:"kernel"`
	Go         string            `json:"go"`
	Congestion map[string]string `json:"congestion"` // whose sockets: which congestion control
	Rows       []Row             `json:"rows"`
	Notes      []string          `json:"notes"`
}

// Row is one figure. Less is better in all of them that have an aim.
type Row struct {
	Scenario string         `json:"scenario"`
	What     string         `json:"what"`
	Unit     string         `json:"unit"`
	Ours     stats.Summary  `json:"ours"`
	Beside   string         `json:"beside,omitempty"` // what the floor is
	Floor    *stats.Summary `json:"floor,omitempty"`
	Ratio    *stats.Ratio   `json:"ratio,omitempty"`
	Aim      *Aim           `json:"aim,omitempty"`
	Verdict  string         `json:"verdict,omitempty"`
	Noise    proc.Noise     `json:"noise"`
}

// Aim is what the row should not exceed.
type Aim struct {
	Most    float64 `json:"most"`
	Ratio   bool    `json:"ratio"`   // of the floor; else in the row's unit
	Because string  `json:"because"` // where it comes from, what Kafka needs
}

const (
	met         = "met"
	metByMedian = "median meets it, worst does not"
	missed      = "missed"
)

// comparison is the material of one row.
type comparison struct {
	scenario, what, unit string
	ours, floor          []float64
	beside               string
	aim                  *Aim
	noise                proc.Noise
}

// add makes a row of c and judges it.
func (r *Report) add(c comparison) {
	row := Row{Scenario: c.scenario, What: c.what, Unit: c.unit, Ours: stats.Summarize(c.ours), Aim: c.aim, Noise: c.noise}
	if len(c.floor) > 0 {
		floor, ratio := stats.Summarize(c.floor), stats.Compare(c.ours, c.floor)
		row.Beside, row.Floor, row.Ratio = c.beside, &floor, &ratio
	}
	row.Verdict = row.judge()
	r.Rows = append(r.Rows, row)
}

// judge holds the row against its aim.
func (r *Row) judge() string {
	if r.Aim == nil || r.Ours.N == 0 || (r.Aim.Ratio && r.Ratio == nil) {
		return ""
	}
	middle, worst := r.Ours.Median, r.Ours.Max
	if r.Aim.Ratio {
		middle, worst = r.Ratio.OfMedians, r.Ratio.Worst
	}
	switch {
	case worst <= r.Aim.Most:
		return met
	case middle <= r.Aim.Most:
		return metByMedian
	}
	return missed
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Judge adds what the machine's noise says about the rows. Call it once, last.
func (r *Report) Judge() {
	const most = 0.3 // cores, rule D0.9
	var loud []string
	for _, row := range r.Rows {
		if row.Noise.Foreign+row.Noise.Steal > most && !slices.Contains(loud, row.Scenario) {
			loud = append(loud, row.Scenario)
		}
	}
	if len(loud) > 0 {
		r.note("in %s at least one sample was taken beside more than %.1f cores of foreign load or steal: run again on a quiet machine before claiming anything", strings.Join(loud, ", "), most)
	}
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteTable writes what a person reads.
func (r *Report) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d CPUs, Linux %s, %s, %.0f s", r.Broker, r.CPUs, r.Kernel, r.Go, r.Seconds)
	if r.Quick {
		fmt.Fprint(w, "; a quick run: few and short samples, no claim rests on them")
	}
	fmt.Fprintf(w, "\ncongestion control: %s\n\n", congestionText(r.Congestion))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\twhat\tunit\tours min / median / max\tfloor min / median / max\tratio (pairs)\taim\t\tload, foreign, steal, pressure")
	for _, row := range r.Rows {
		floor, ratio, aim := "", "", ""
		if row.Floor != nil {
			floor = row.Beside + " " + summaryText(*row.Floor)
			ratio = fmt.Sprintf("%.2f (%.2f to %.2f)", row.Ratio.OfMedians, row.Ratio.Best, row.Ratio.Worst)
		}
		if row.Aim != nil {
			aim = "≤ " + number(row.Aim.Most)
			if row.Aim.Ratio {
				aim += "×"
			}
		}
		n := row.Noise
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f %.2f %.2f %.0f%%\n", row.Scenario, row.What, row.Unit,
			summaryText(row.Ours), floor, ratio, aim, row.Verdict, n.Load, n.Foreign, n.Steal, 100*n.Pressure)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	return nil
}

func congestionText(m map[string]string) string {
	var parts []string
	for _, who := range []string{"machine", "generator"} {
		parts = append(parts, who+" "+m[who])
	}
	return strings.Join(parts, ", ") + ". The generator's holds against broker and floor alike; what they send goes out under the machine's."
}

func summaryText(s stats.Summary) string {
	if s.N == 1 {
		return number(s.Median)
	}
	return fmt.Sprintf("%s / %s / %s", number(s.Min), number(s.Median), number(s.Max))
}

// number has three digits that say something.
func number(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	case f >= 1:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3f", f)
}
