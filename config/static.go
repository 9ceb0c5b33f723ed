package config

// Static is the configuration a broker was started with: what was given, and
// what follows from it. It is immutable.
type Static struct {
	given       map[string]string
	listeners   []Listener
	interBroker string
	broker      Broker
}

// Dynamic is what the cluster's metadata says about settings of brokers: for
// this one (/config/brokers/<id>), and for all (/config/brokers/<default>). It
// is only read.
type Dynamic struct{ Broker, Default map[string]string }

// DefaultEntity is the name under /config/brokers of what holds for all
// brokers.
const DefaultEntity = "<default>"

// view is the broker's settings with what the metadata says about them. What
// may not be set there, or cannot be read, is not looked at.
func (s *Static) view(d Dynamic) view {
	if len(d.Broker) == 0 && len(d.Default) == 0 {
		return view{[]map[string]string{s.given}}
	}
	return view{[]map[string]string{usable(d.Broker, true), usable(d.Default, false), s.given}}
}

// usable leaves out of dynamic values those that Kafka ignores: of settings
// that cannot change at run time, in the wrong place, or unreadable.
func usable(m map[string]string, perBroker bool) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, text := range m {
		s := resolve(k)
		if s != nil {
			if _, _, problem := s.read(text); problem != "" {
				continue
			}
			if isBroker := brokerByName[k] != nil; isBroker && s.Update == ReadOnly || needsListener[k] {
				continue
			}
			if !perBroker && onlyPerBroker(k) {
				continue
			}
		}
		out[k] = text
	}
	return out
}

// Given tells whether a broker setting was set at the start, by flag,
// environment or file.
func (s *Static) Given(name string) bool {
	_, ok := s.given[name]
	return ok
}

// Int gives a broker setting of type INT, SHORT or LONG as it was started
// with. The name must be declared.
func (s *Static) Int(name string) int64 { return s.view(Dynamic{}).long(name) }

// Bool gives a broker setting of type BOOLEAN. The name must be declared.
func (s *Static) Bool(name string) bool { return s.view(Dynamic{}).boolean(name) }

// Float gives a broker setting of type DOUBLE. The name must be declared.
func (s *Static) Float(name string) float64 { return s.view(Dynamic{}).double(name) }

// Text gives a broker setting of type STRING or CLASS, empty if it has no
// value. The name must be declared.
func (s *Static) Text(name string) string { return s.view(Dynamic{}).string(name) }

// Strings gives a broker setting of type LIST. The name must be declared.
func (s *Static) Strings(name string) []string { return s.view(Dynamic{}).strings(name) }
