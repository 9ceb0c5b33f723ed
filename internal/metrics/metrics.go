// Package metrics holds a process's figures: counters, gauges and histograms
// that are updated without a lock and read by whoever serves them
// (broker/observe). It knows no exposition format.
//
// Names and labels are those that the JMX exporter gives Kafka's MBeans, so that
// dashboards made for Kafka work. A nil *[Registry] hands out figures that work
// and are seen by nobody, so components need no switch.
package metrics

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Label is one name and value of a series.
type Label struct{ Name, Value string }

// Counter only goes up.
type Counter struct{ n atomic.Int64 }

// Add raises the counter by n, which is not negative.
func (c *Counter) Add(n int64) { c.n.Add(n) }

// Inc raises the counter by one.
func (c *Counter) Inc() { c.n.Add(1) }

// Value is the count so far.
func (c *Counter) Value() int64 { return c.n.Load() }

// Gauge goes up and down.
type Gauge struct{ n atomic.Int64 }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.n.Store(n) }

// Add changes the value by n.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Value is the present value.
func (g *Gauge) Value() int64 { return g.n.Load() }

// buckets of a histogram grow by the square root of two, from 10 µs to beyond a
// minute, so a quantile is off by a fifth at most.
const (
	buckets     = 48
	firstBucket = 10e-6
)

// Histogram counts observations, in seconds, by size.
type Histogram struct {
	counts [buckets]atomic.Int64
	count  atomic.Int64
	nanos  atomic.Int64
}

// Observe takes one value in seconds.
func (h *Histogram) Observe(seconds float64) {
	i := 0
	if seconds > firstBucket {
		i = min(buckets-1, int(math.Ceil(2*math.Log2(seconds/firstBucket))))
	}
	h.counts[i].Add(1)
	h.count.Add(1)
	h.nanos.Add(int64(seconds * 1e9))
}

// Count is the number of observations and Sum their total in seconds.
func (h *Histogram) Count() int64 { return h.count.Load() }

// Sum is the total of all observations in seconds.
func (h *Histogram) Sum() float64 { return float64(h.nanos.Load()) / 1e9 }

// Quantile is an upper bound of the q-th quantile in seconds, 0 without
// observations.
func (h *Histogram) Quantile(q float64) float64 {
	total := h.count.Load()
	if total == 0 {
		return 0
	}
	rank, seen := int64(math.Ceil(q*float64(total))), int64(0)
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen >= rank {
			return firstBucket * math.Pow(2, float64(i)/2)
		}
	}
	return firstBucket * math.Pow(2, float64(buckets-1)/2)
}

// Kind tells what a series is.
type Kind int8

// The kinds of series.
const (
	KindCounter Kind = iota
	KindGauge
	KindHistogram
)

// Series is one figure with its labels.
type Series struct {
	Name, Help string
	Labels     []Label // in order of names
	Kind       Kind

	counter   *Counter
	gauge     *Gauge
	function  func() float64
	histogram *Histogram
}

// Value is the present value of a counter or gauge.
func (s *Series) Value() float64 {
	switch {
	case s.counter != nil:
		return float64(s.counter.Value())
	case s.gauge != nil:
		return float64(s.gauge.Value())
	case s.function != nil:
		return s.function()
	}
	return 0
}

// Histogram is the series' histogram, nil if it is none.
func (s *Series) Histogram() *Histogram { return s.histogram }

// Registry knows the series of a process. The zero value is of no use: take New.
type Registry struct {
	mu     sync.RWMutex
	series map[string]*Series
}

// New is an empty registry.
func New() *Registry { return &Registry{series: make(map[string]*Series)} }

// register gives the series of that name and labels, made by fill if it is new.
func (r *Registry) register(name, help string, labels []Label, fill func(*Series)) *Series {
	s := &Series{Name: name, Help: help, Labels: slices.Clone(labels)}
	if r == nil {
		fill(s)
		return s
	}
	slices.SortFunc(s.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	key := seriesKey(name, s.Labels)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.series[key]; old != nil {
		return old
	}
	fill(s)
	r.series[key] = s
	return s
}

func seriesKey(name string, labels []Label) string {
	var b strings.Builder
	b.WriteString(name)
	for _, l := range labels {
		b.WriteByte(0)
		b.WriteString(l.Name)
		b.WriteByte(0)
		b.WriteString(l.Value)
	}
	return b.String()
}

// Counter is the counter of that name and labels; asking twice gives the same.
func (r *Registry) Counter(name, help string, labels ...Label) *Counter {
	return r.register(name, help, labels, func(s *Series) { s.Kind, s.counter = KindCounter, new(Counter) }).counter
}

// Gauge is the gauge of that name and labels; asking twice gives the same.
func (r *Registry) Gauge(name, help string, labels ...Label) *Gauge {
	return r.register(name, help, labels, func(s *Series) { s.Kind, s.gauge = KindGauge, new(Gauge) }).gauge
}

// GaugeFunc is a gauge whose value f gives whenever it is read.
func (r *Registry) GaugeFunc(name, help string, f func() float64, labels ...Label) {
	r.register(name, help, labels, func(s *Series) { s.Kind, s.function = KindGauge, f })
}

// Histogram is the histogram of that name and labels; asking twice gives the
// same.
func (r *Registry) Histogram(name, help string, labels ...Label) *Histogram {
	return r.register(name, help, labels, func(s *Series) { s.Kind, s.histogram = KindHistogram, new(Histogram) }).histogram
}

// Forget drops every series that carries all of the labels, such as those of a
// deleted topic.
func (r *Registry) Forget(labels ...Label) {
	if r == nil || len(labels) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, s := range r.series {
		all := true
		for _, l := range labels {
			all = all && slices.Contains(s.Labels, l)
		}
		if all {
			delete(r.series, key)
		}
	}
}

// Each visits every series, in order of name and labels.
func (r *Registry) Each(visit func(*Series)) {
	r.mu.RLock()
	keys := make([]string, 0, len(r.series))
	byKey := make(map[string]*Series, len(r.series))
	for k, s := range r.series {
		keys, byKey[k] = append(keys, k), s
	}
	r.mu.RUnlock()
	slices.Sort(keys)
	for _, k := range keys {
		visit(byKey[k])
	}
}
