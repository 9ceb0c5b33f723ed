// Package observe serves what operators and their tools ask of a broker, on a
// port of its own: /metrics in Prometheus' text format, /livez (the process
// runs) and /readyz (it answers clients). It binds loopback unless told
// otherwise: there is no authentication.
package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"barnabas/internal/metrics"
)

// Options are what a Server is built from.
type Options struct {
	// Address is host:port.
	Address string
	// Metrics are the figures to serve.
	Metrics *metrics.Registry
	// Version is what /livez says.
	Version string
	// Ready is why the broker is not ready, nil if it is.
	Ready  func() error
	Logger *zap.Logger
}

// Server serves the operators' port.
type Server struct {
	o        Options
	listener net.Listener
	http     *http.Server
}

// New binds the address.
func New(o Options) (*Server, error) {
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", o.Address, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{o.Metrics}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s := &Server{o: o, listener: l}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, status{Status: "ok", Version: o.Version})
	})
	mux.HandleFunc("GET /readyz", s.readyz)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	return s, nil
}

type status struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Version string `json:"version,omitempty"`
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if err := s.o.Ready(); err != nil {
		answer(w, http.StatusServiceUnavailable, status{Status: "not ready", Reason: err.Error()})
		return
	}
	answer(w, http.StatusOK, status{Status: "ok", Version: s.o.Version})
}

func answer(w http.ResponseWriter, code int, body status) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client's connection is the only thing that can fail
}

// Addr is the address that is bound.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() }) // Serve reports the end
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close gives the port back.
func (s *Server) Close() error {
	if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// collector gives the figures to Prometheus whenever it scrapes.
type collector struct{ registry *metrics.Registry }

// Describe says nothing: series come and go with topics.
func (collector) Describe(chan<- *prometheus.Desc) {}

// quantiles are those that the JMX exporter gives of Kafka's histograms.
var quantiles = []float64{0.5, 0.75, 0.95, 0.98, 0.99, 0.999}

// Collect sends every series.
func (c collector) Collect(out chan<- prometheus.Metric) {
	c.registry.Each(func(s *metrics.Series) {
		names, values := make([]string, len(s.Labels)), make([]string, len(s.Labels))
		for i, l := range s.Labels {
			names[i], values[i] = l.Name, l.Value
		}
		desc := prometheus.NewDesc(s.Name, s.Help, names, nil)
		var m prometheus.Metric
		var err error
		switch s.Kind {
		case metrics.KindHistogram:
			h := s.Histogram()
			q := make(map[float64]float64, len(quantiles))
			for _, p := range quantiles {
				q[p] = h.Quantile(p) * 1000
			}
			m, err = prometheus.NewConstSummary(desc, uint64(h.Count()), h.Sum()*1000, q, values...)
		case metrics.KindCounter:
			m, err = prometheus.NewConstMetric(desc, prometheus.CounterValue, s.Value(), values...)
		default:
			m, err = prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.Value(), values...)
		}
		if err != nil {
			m = prometheus.NewInvalidMetric(desc, err)
		}
		out <- m
	})
}
