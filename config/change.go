package config

import (
	"slices"
	"strconv"
	"strings"
)

// Invalid is a change that cannot be made, in Kafka's words.
type Invalid struct {
	// Key and Value are what is wrong, as far as it is about one setting.
	Key, Value string
	// Message is what the client is told.
	Message string
	// Standalone messages are told as they are; before the others AlterConfigs
	// names the resource.
	Standalone bool
}

// Error is the message.
func (i *Invalid) Error() string { return i.Message }

// invalidValue words a value that a setting does not take.
func invalidValue(s *Setting, shown, problem string) *Invalid {
	if s.Sensitive() {
		shown = "[hidden]"
	}
	return &Invalid{Key: s.Name, Value: shown, Message: "Invalid value " + shown + " for configuration " + s.Name + ": " + problem}
}

// ValidateTopic judges a topic's own settings, all that it is going to have,
// as a broker without configuration does. The error is an *Invalid.
func ValidateTopic(own map[string]string) error {
	return validateTopic(own, view{})
}

// ValidateTopic judges a topic's own settings, all that it is going to have.
// The error is an *Invalid.
func (s *Static) ValidateTopic(d Dynamic, own map[string]string) error {
	return validateTopic(own, s.view(d))
}

func validateTopic(own map[string]string, broker view) error {
	for _, name := range sortedKeys(own) {
		if topicByName[name] == nil {
			return &Invalid{Key: name, Value: own[name], Message: "Unknown topic config name: " + name, Standalone: true}
		}
	}
	for i := range topicSettings { // Kafka's order
		s := &topicSettings[i]
		if t, ok := own[s.Name]; ok {
			if _, shown, problem := s.read(t); problem != "" {
				return invalidValue(s, shown, problem)
			}
		}
	}
	v := topicView{own, broker}
	if problem := lagOrder(v.long("min.compaction.lag.ms"), v.long("max.compaction.lag.ms")); problem != "" {
		return &Invalid{Key: "min.compaction.lag.ms", Value: own["min.compaction.lag.ms"], Message: problem, Standalone: true}
	}
	switch {
	case v.boolean("remote.log.delete.on.disable"), v.boolean("remote.log.copy.disable"):
		return &Invalid{
			Key: "remote.log.copy.disable", Standalone: true,
			Message: "It is invalid to set `remote.log.delete.on.disable` or `remote.log.copy.disable` under Zookeeper's mode.",
		}
	case v.boolean("remote.storage.enable"):
		return &Invalid{
			Key: "remote.storage.enable", Value: "true",
			Message: "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
		}
	}
	return nil
}

// needsListener are settings that can change at run time only for one
// listener: listener.name.<listener>.<setting>.
var needsListener = nameSet(
	"ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.key.password",
	"ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.certificates",
)

// everywhere are settings of a listener that may be set for all brokers.
var everywhere = nameSet("max.connections", "max.connection.creation.rate", "num.network.threads")

// onlyPerBroker tells whether a setting can change at run time for one broker
// only.
func onlyPerBroker(name string) bool {
	if base, ok := listenerOverride(name); ok {
		return !everywhere[base]
	}
	s := brokerByName[name]
	return s != nil && s.Update == PerBroker
}

// fixedAtStart are settings that Kafka changes at run time and Barnabas does
// not yet. To accept them would leave a client or an operator in the belief
// that a listener is or is not there.
var fixedAtStart = nameSet("listeners", "advertised.listeners", "listener.security.protocol.map")

// BrokerChange is a change of what the metadata says about brokers.
type BrokerChange struct {
	// Dynamic is what it says before.
	Dynamic Dynamic
	// PerBroker is true for this broker's own settings, false for those of all.
	PerBroker bool
	// Values are all settings that there are going to be.
	Values map[string]string
}

// ValidateBrokerChange judges a change of broker settings at run time. The
// error is an *Invalid.
func (s *Static) ValidateBrokerChange(c BrokerChange) error {
	if err := checkPlace(c); err != nil {
		return err
	}
	after := Dynamic{Broker: c.Dynamic.Broker, Default: c.Values}
	if c.PerBroker {
		after = Dynamic{Broker: c.Values, Default: c.Dynamic.Default}
	}
	before, now := s.view(c.Dynamic), s.view(after)
	for _, r := range conflicts {
		if r.check(before) != "" { // was there before: not this change's doing
			continue
		}
		if problem := r.check(now); problem != "" {
			if r.key == "log.cleaner.threads" {
				return invalidValue(brokerByName[r.key], now.string(r.key), problem)
			}
			return &Invalid{Key: r.key, Message: "requirement failed: " + problem, Standalone: true}
		}
	}
	return checkThreads(before, now)
}

// checkPlace looks at every key: whether it may change at run time and there,
// whether its value can be read, and whether Barnabas can honour it.
func checkPlace(c BrokerChange) error {
	var fixed, bare, own []string
	for _, name := range sortedKeys(c.Values) {
		if s := brokerByName[name]; s != nil && s.Update == ReadOnly {
			fixed = append(fixed, name)
		}
		if needsListener[name] {
			bare = append(bare, name)
		}
		if !c.PerBroker && onlyPerBroker(name) {
			own = append(own, name)
		}
	}
	if len(fixed) > 0 {
		return &Invalid{Key: fixed[0], Message: "Cannot update these configs dynamically: " + scalaSet("Set", fixed)}
	}
	if len(bare) > 0 {
		return &Invalid{
			Key:     bare[0],
			Message: "These security configs can be dynamically updated only per-listener using the listener prefix: " + scalaSet("HashSet", bare),
		}
	}
	for _, name := range sortedKeys(c.Values) {
		s := resolve(name)
		if s == nil {
			continue
		}
		if _, shown, problem := s.read(c.Values[name]); problem != "" {
			return invalidValue(s, shown, problem)
		}
	}
	if len(own) > 0 {
		return &Invalid{
			Key:     own[0],
			Message: "Cannot update these configs at default cluster level, broker id must be specified: " + scalaSet("Set", own),
		}
	}
	return checkHonoured(c)
}

// checkHonoured refuses what would be stored and then ignored although
// somebody relies on it.
func checkHonoured(c BrokerChange) error {
	for _, name := range sortedKeys(c.Values) {
		text := c.Values[name]
		base := name
		if b, ok := listenerOverride(name); ok {
			base = b
		}
		reason, _ := refuse(name, text)
		switch {
		case fixedAtStart[name]:
			reason = "listeners change only at a restart"
		case base == "metric.reporters" && trim(text) != "":
			reason = "reporters are Java classes; the metrics are served at barnabas.metrics.listener"
		case strings.HasPrefix(base, "ssl.") && base != name:
			reason = noTLS
		}
		if reason != "" {
			return &Invalid{Key: name, Message: "Barnabas cannot change " + name + " at run time: " + reason}
		}
	}
	return nil
}

// threadCounts may at a time be changed to half or double.
var threadCounts = []string{"num.io.threads", "num.network.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads"}

func checkThreads(before, now view) error {
	for _, name := range threadCounts {
		old, n := before.long(name), now.long(name)
		if n == old {
			continue
		}
		problem := ""
		switch {
		case n <= 0:
			problem = "value should be at least 1"
		case n < old/2:
			problem = "value should be at least half the current value " + strconv.FormatInt(old, 10)
		case n > old*2:
			problem = "value should not be greater than double the current value " + strconv.FormatInt(old, 10)
		default:
			continue
		}
		return reconfigurationError(name, "Dynamic thread count update validation failed for "+name+"="+strconv.FormatInt(n, 10)+", "+problem)
	}
	const name = "log.cleaner.threads"
	old, n := before.long(name), now.long(name)
	switch {
	case n < old/2:
		return reconfigurationError(name, "Log cleaner threads cannot be reduced to less than half the current value "+strconv.FormatInt(old, 10))
	case n > old*2:
		return reconfigurationError(name, "Log cleaner threads cannot be increased to more than double the current value "+strconv.FormatInt(old, 10))
	}
	return nil
}

// reconfigurationError words what Kafka finds while it applies a change on
// trial. Its message has the inner one as the value.
func reconfigurationError(key, problem string) *Invalid {
	return &Invalid{
		Key:     key,
		Message: "Invalid value org.apache.kafka.common.config.ConfigException: " + problem + " for configuration Invalid dynamic configuration",
	}
}

// scalaSet writes a set as Scala does, whose small sets have another name.
func scalaSet(kind string, names []string) string {
	const small = 4
	if len(names) > small {
		kind = "HashSet"
	}
	return kind + "(" + strings.Join(names, ", ") + ")"
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// AppendTo adds the parts of a list to another, those that are not in it yet.
func AppendTo(list, parts string) string {
	var out []string
	if list != "" {
		out = javaSplit(list)
	}
	have := len(out)
	for _, p := range javaSplit(parts) {
		if !slices.Contains(out[:have], p) {
			out = append(out, p)
		}
	}
	return strings.Join(out, ",")
}

// SubtractFrom takes the parts of a list from another, each as often as it is
// named.
func SubtractFrom(list, parts string) string {
	out := javaSplit(list)
	for _, p := range javaSplit(parts) {
		if i := slices.Index(out, p); i >= 0 {
			out = slices.Delete(out, i, i+1)
		}
	}
	return strings.Join(out, ",")
}

// javaSplit splits at commas as Java's String.split does: empty parts at the
// end are dropped, but the empty text has one part.
func javaSplit(s string) []string {
	parts := strings.Split(s, ",")
	if s == "" {
		return parts
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}
