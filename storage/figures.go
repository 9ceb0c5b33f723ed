package storage

// registerFigures publishes what is read, not counted, under the name that the
// JMX exporter gives Kafka's.
func (m *Manager) registerFigures() {
	m.o.Metrics.GaugeFunc("kafka_log_logmanager_offlinelogdirectorycount", "Log directories that failed.", func() float64 {
		n := 0
		for _, d := range m.dirs {
			if d.offline() != nil {
				n++
			}
		}
		return float64(n)
	})
}
