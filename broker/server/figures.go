package server

import (
	"strconv"

	"barnabas/internal/metrics"
	"barnabas/protocol/api"
)

// figures are the request metrics, under the names that the JMX exporter gives
// kafka.network:type=RequestMetrics.
type figures struct {
	byKey [128]*apiFigures
}

type apiFigures struct {
	min      int16
	versions []*metrics.Counter
	total    *metrics.Histogram
	bytes    *metrics.Counter
}

func newFigures(s *Server, r *metrics.Registry) *figures {
	f := &figures{}
	for _, a := range api.Table() {
		request := metrics.Label{Name: "request", Value: a.Name}
		af := &apiFigures{
			min:   a.Min,
			total: r.Histogram("kafka_network_requestmetrics_totaltimems", "Time from a request's last byte to its reply's, in milliseconds.", request),
			bytes: r.Counter("kafka_network_requestmetrics_responsebytes_total", "Bytes of replies.", request),
		}
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

// answered counts a reply that is out.
func (f *figures) answered(sl *slot, size int) {
	a := f.byKey[sl.row.Key]
	if i := int(sl.call.Version - a.min); i >= 0 && i < len(a.versions) {
		a.versions[i].Inc()
	}
	a.bytes.Add(int64(size))
	a.total.Observe(sl.c.s.o.Clock.Now().Sub(sl.call.Received).Seconds())
}
