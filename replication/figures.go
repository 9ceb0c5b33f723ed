package replication

import (
	"strconv"

	"barnabas/internal/metrics"
	"barnabas/replication/partition"
)

// figures are the metrics of the replica manager, under the names that the JMX
// exporter gives Kafka's.
type figures struct {
	registry *metrics.Registry
	all      *topicFigures
	expired  [purposes]*metrics.Counter
}

// counts are how many partitions are in which state.
type counts struct{ partitions, leaders, offline, underReplicated, underMinISR, atMinISR int }

// topicFigures are one topic's share of BrokerTopicMetrics, or the total.
type topicFigures struct {
	messagesIn, bytesIn, bytesOut, bytesRejected *metrics.Counter
	produceRequests, failedProduce               *metrics.Counter
	fetchRequests, failedFetch                   *metrics.Counter
}

func newTopicFigures(r *metrics.Registry, labels ...metrics.Label) *topicFigures {
	c := func(name, help string) *metrics.Counter {
		return r.Counter("kafka_server_brokertopicmetrics_"+name+"_total", help, labels...)
	}
	return &topicFigures{
		messagesIn:      c("messagesin", "Records appended."),
		bytesIn:         c("bytesin", "Bytes of records appended for producers."),
		bytesOut:        c("bytesout", "Bytes of records sent to consumers."),
		bytesRejected:   c("bytesrejected", "Bytes of records refused for their size."),
		produceRequests: c("totalproducerequests", "Partitions produced to, by request."),
		failedProduce:   c("failedproducerequests", "Partitions whose records were refused, by request."),
		fetchRequests:   c("totalfetchrequests", "Partitions fetched from, by request."),
		failedFetch:     c("failedfetchrequests", "Partitions that failed to be read, by request."),
	}
}

func (f *topicFigures) appended(size, records int) {
	f.bytesIn.Add(int64(size))
	f.messagesIn.Add(int64(records))
}

// purposeName is Kafka's name of a purgatory.
var purposeName = [purposes]string{"Produce", "Fetch", "DeleteRecords"}

func newFigures(m *Manager) *figures {
	f := &figures{registry: m.metrics, all: newTopicFigures(m.metrics)}
	for k := range purposes {
		label := metrics.Label{Name: "delayedOperation", Value: purposeName[k]}
		waiting := &m.waiting[k]
		size := func() float64 { return float64(waiting.Load()) }
		m.metrics.GaugeFunc("kafka_server_delayedoperationpurgatory_purgatorysize", "Requests that wait.", size, label)
		m.metrics.GaugeFunc("kafka_server_delayedoperationpurgatory_numdelayedoperations", "Requests that wait.", size, label)
		f.expired[k] = m.metrics.Counter("kafka_server_delayedoperationpurgatory_expired_total", "Requests answered because their time was up.", label)
	}
	gauge := func(name, help string, get func(*counts) int) {
		m.metrics.GaugeFunc("kafka_server_replicamanager_"+name, help, func() float64 {
			c := m.count()
			return float64(get(&c))
		})
	}
	gauge("partitioncount", "Partitions on this broker.", func(c *counts) int { return c.partitions })
	gauge("leadercount", "Partitions this broker leads.", func(c *counts) int { return c.leaders })
	gauge("offlinereplicacount", "Replicas whose log directory failed.", func(c *counts) int { return c.offline })
	gauge("underreplicatedpartitions", "Led partitions with fewer in-sync replicas than replicas.", func(c *counts) int { return c.underReplicated })
	gauge("underminisrpartitioncount", "Led partitions with fewer in-sync replicas than min.insync.replicas.", func(c *counts) int { return c.underMinISR })
	gauge("atminisrpartitioncount", "Led partitions with exactly min.insync.replicas in-sync replicas.", func(c *counts) int { return c.atMinISR })
	return f
}

// count looks at every partition. It is done when metrics are read, which is
// seldom, and not when roles change, which a start does ten thousand times.
func (m *Manager) count() (c counts) {
	for p := range m.Partitions {
		p.role.RLock()
		c.partitions++
		switch {
		case p.log == nil:
			c.offline++
		case p.state.Role() == partition.Leader:
			c.leaders++
			isr, replicas := len(p.state.ISR()), len(p.state.Replicas())
			if isr < replicas {
				c.underReplicated++
			}
			if p.state.UnderMinISR() {
				c.underMinISR++
			}
			if isr == p.state.EffectiveMinISR() {
				c.atMinISR++
			}
		}
		p.role.RUnlock()
	}
	return c
}

// topic gives the figures of a topic that is new here.
func (f *figures) topic(name string) *topicFigures {
	return newTopicFigures(f.registry, metrics.Label{Name: "topic", Value: name})
}

func partitionLabels(p *Partition) []metrics.Label {
	return []metrics.Label{{Name: "topic", Value: p.topic.name}, {Name: "partition", Value: strconv.Itoa(int(p.number))}}
}

// added publishes a partition's own figures.
func (f *figures) added(p *Partition) {
	if f.registry == nil {
		return
	}
	labels := partitionLabels(p)
	gauge := func(name, help string, get func() int64) {
		f.registry.GaugeFunc("kafka_log_log_"+name, help, func() float64 { return float64(get()) }, labels...)
	}
	gauge("logendoffset", "End of the log.", func() int64 {
		if l := p.Log(); l != nil {
			return l.LogEndOffset()
		}
		return -1
	})
	gauge("logstartoffset", "Start of the log.", func() int64 {
		if l := p.Log(); l != nil {
			return l.LogStartOffset()
		}
		return -1
	})
	gauge("size", "Bytes of the log.", func() int64 {
		if l := p.Log(); l != nil {
			return l.Size()
		}
		return 0
	})
}

// removed drops the figures of partitions that were deleted, and of topics
// whose last partition was.
func (f *figures) removed(parts []*Partition) {
	gone := make(map[*topic]bool)
	for _, p := range parts {
		switch {
		case f.registry == nil || gone[p.topic]:
		case p.topic.count == 0:
			gone[p.topic] = true
			f.registry.Forget(metrics.Label{Name: "topic", Value: p.topic.name})
		default:
			f.registry.Forget(partitionLabels(p)...)
		}
	}
}

// Sent counts bytes that left for consumers.
func (p *Partition) Sent(n int) {
	p.topic.figures.bytesOut.Add(int64(n))
	p.m.figures.all.bytesOut.Add(int64(n))
}
