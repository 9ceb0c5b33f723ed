package server

import (
	"strconv"

	"barnabas/internal/metrics"
	"barnabas/protocol/api"
)

// figures are the request metrics, under the names that the JMX exporter gives
// kafka.network:type=RequestMetrics.
type figures struct {
	registry *metrics.Registry
	byKey    [128]*apiFigures
}

type apiFigures struct {
	min      int16
	versions []*metrics.Counter
	total    *metrics.Histogram
	bytes    *metrics.Counter
	none     *metrics.Counter // requests without an error
}

func newFigures(s *Server, r *metrics.Registry) *figures {
	f := &figures{registry: r}
	for _, a := range api.Table() {
		request := metrics.Label{Name: "request", Value: a.Name}
		af := &apiFigures{
			min:   a.Min,
			total: r.Histogram("kafka_network_requestmetrics_totaltimems", "Time from a request's last byte to its reply's, in milliseconds.", request),
			bytes: r.Counter("kafka_network_requestmetrics_responsebytes_total", "Bytes of replies.", request),
		}
		af.none = f.failed(a.Name, "NONE")
		for v := a.Min; v <= a.Max; v++ {
			af.versions = append(af.versions, r.Counter("kafka_network_requestmetrics_requests_total", "Requests answered.", request,
				metrics.Label{Name: "version", Value: strconv.Itoa(int(v))}))
		}
		f.byKey[a.Key] = af
	}
	r.GaugeFunc("kafka_server_socket_server_metrics_connection_count", "Open connections.", func() float64 { return float64(s.Connections()) })
	r.GaugeFunc("barnabas_server_request_memory_bytes", "Bytes that requests in flight are charged.", func() float64 {
		return float64(s.frames.inUse() + s.decoding.inUse())
	})
	return f
}

// failed is the counter of an error in replies of an API.
func (f *figures) failed(request, name string) *metrics.Counter {
	return f.registry.Counter("kafka_network_requestmetrics_errors_total", "Error codes in replies; NONE are replies without any.",
		metrics.Label{Name: "request", Value: request}, metrics.Label{Name: "error", Value: name})
}

// answered counts a reply that is out, with the error codes in it.
func (f *figures) answered(sl *slot, size int, errors []int16) {
	for _, code := range errors {
		f.failed(sl.row.Name, errorName(code)).Inc()
	}
	a := f.byKey[sl.row.Key]
	if i := int(sl.call.Version - a.min); i >= 0 && i < len(a.versions) {
		a.versions[i].Inc()
	}
	a.bytes.Add(int64(size))
	if len(errors) == 0 {
		a.none.Inc()
	}
	a.total.Observe(sl.c.s.o.Clock.Now().Sub(sl.call.Received).Seconds())
}
