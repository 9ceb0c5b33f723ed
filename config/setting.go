package config

import (
	"slices"
	"strings"
)

// Type is what kind of value a setting takes. The numbers are those of
// DescribeConfigs.
type Type int8

// The types of settings.
const (
	Unknown  Type = 0
	Boolean  Type = 1
	String   Type = 2
	Int      Type = 3
	Short    Type = 4
	Long     Type = 5
	Double   Type = 6
	List     Type = 7
	Class    Type = 8
	Password Type = 9
)

// String is Kafka's name of the type, as its messages have it.
func (t Type) String() string {
	names := [...]string{"UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}
	if t < 0 || int(t) >= len(names) {
		return names[0]
	}
	return names[t]
}

// Source says where a value comes from. The numbers are those of
// DescribeConfigs.
type Source int8

// The sources of values, the strongest first.
const (
	DynamicTopic         Source = 1
	DynamicBroker        Source = 2
	DynamicDefaultBroker Source = 3
	StaticBroker         Source = 4
	DefaultConfig        Source = 5
	DynamicBrokerLogger  Source = 6
)

// Importance is how likely an operator has to look at a setting.
type Importance int8

// The degrees of importance.
const (
	High Importance = iota
	Medium
	Low
)

// String is the word that the documentation uses.
func (i Importance) String() string { return [...]string{"high", "medium", "low"}[i] }

// Update says when a broker setting may change.
type Update int8

// The ways to change a broker setting.
const (
	ReadOnly    Update = iota // at a restart
	PerBroker                 // at run time, for one broker
	ClusterWide               // at run time, for one broker or for all
)

// String is Kafka's word for the way.
func (u Update) String() string { return [...]string{"read-only", "per-broker", "cluster-wide"}[u] }

// Effect is what a setting does in this version of Barnabas.
type Effect int8

// The effects of settings.
const (
	Acts     Effect = iota // it acts
	Later                  // it is validated and reported; the part it configures is not built yet
	Reported               // it is validated and reported, and has nothing to configure here
)

// String is the word that the documentation uses.
func (e Effect) String() string { return [...]string{"acts", "not yet", "no effect"}[e] }

// null stands for "no value" where a default is a string. No value can contain
// it: Java's properties and the protocol's strings that reach us as values are
// text.
const null = "\x00null"

// Setting is one declared setting. The tables write it as a row, so the order
// of the fields is part of the tables.
type Setting struct {
	Name       string
	Type       Type
	Default    string // as text; null if there is none
	Valid      rule   // nil if the type says it all
	Importance Importance
	Update     Update
	Effect     Effect
	Doc        string
}

// HasDefault tells whether the setting has a value when nothing sets it.
func (s *Setting) HasDefault() bool { return s.Default != null }

// unsetByEmpty tells whether the empty text, which is no value of the type,
// stands for none. It lets a flag take back what a file says.
func (s *Setting) unsetByEmpty() bool {
	switch s.Type {
	case Int, Short, Long, Double:
		return !s.HasDefault()
	case Class:
		return true
	default:
		return false
	}
}

// Sensitive tells whether the value is a secret.
func (s *Setting) Sensitive() bool { return s.Type == Password }

// Allowed describes the values the setting takes, for messages and documents.
func (s *Setting) Allowed() string {
	if s.Valid != nil {
		return s.Valid.String()
	}
	switch s.Type {
	case Boolean:
		return "true or false"
	case Int:
		return "[-2147483648,...,2147483647]"
	case Short:
		return "[-32768,...,32767]"
	case Long:
		return "a 64-bit integer"
	case Double:
		return "a number"
	case List:
		return "a list separated by commas"
	case Class:
		return "the name of a class"
	default:
		return "any text"
	}
}

// hidden are Kafka's internal settings: they are understood, and listed by
// DescribeConfigs only when set.
var hidden = nameSet(
	"group.consumer.migration.policy", "group.coordinator.new.enable", "group.share.enable", "log.initial.task.delay.ms",
	"metadata.log.segment.min.bytes", "producer.id.expiration.check.interval.ms", "remote.log.manager.task.retry.backoff.max.ms",
	"remote.log.manager.task.retry.backoff.ms", "remote.log.manager.task.retry.jitter", "server.max.startup.time.ms",
	"unclean.leader.election.interval.ms", "unstable.api.versions.enable", "unstable.feature.versions.enable",
	"zookeeper.metadata.migration.min.batch.size",
)

// Listed tells whether DescribeConfigs lists the setting also when nothing
// sets it: not Kafka's internal settings, and not ours.
func (s *Setting) Listed() bool { return !hidden[s.Name] && !strings.HasPrefix(s.Name, ownPrefix) }

// The tables, by name, and in the order of names.
var (
	brokerTable = slices.Concat(ownSettings, generalSettings, networkSettings, logSettings, replicationSettings, groupSettings,
		transactionSettings, quotaSettings, securitySettings, saslSettings, sslSettings, remoteSettings, metadataSettings)
	brokerByName   = byName(brokerTable)
	brokerNames    = sortedNames(brokerTable)
	brokerDefaults = parsedDefaults(brokerTable)

	topicByName   = byName(topicSettings)
	topicNames    = sortedNames(topicSettings)
	topicDefaults = parsedDefaults(topicSettings)

	// dynamicOnly exist only among what the metadata holds (/config/brokers).
	dynamicOnlyByName = byName(dynamicOnlySettings)
)

// BrokerSetting gives the declaration of a broker setting, nil if the name is
// unknown. The caller must not change it.
func BrokerSetting(name string) *Setting { return brokerByName[name] }

// TopicSetting gives the declaration of a topic setting, nil if the name is
// unknown. The caller must not change it.
func TopicSetting(name string) *Setting { return topicByName[name] }

// BrokerNames lists the names of all broker settings, sorted.
func BrokerNames() []string { return slices.Clone(brokerNames) }

// TopicNames lists the names of the 36 topic settings, sorted.
func TopicNames() []string { return slices.Clone(topicNames) }

func byName(table []Setting) map[string]*Setting {
	m := make(map[string]*Setting, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}

func sortedNames(table []Setting) []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	slices.Sort(names)
	return names
}

func nameSet(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// resolve finds the declaration behind a name that a broker may be given: a
// broker setting, one that exists only at run time, or either for one listener
// (listener.name.<listener>.<setting>, with the mechanism before some). nil if
// there is none.
func resolve(name string) *Setting {
	if s := brokerByName[name]; s != nil {
		return s
	}
	if s := dynamicOnlyByName[name]; s != nil {
		return s
	}
	base, ok := listenerOverride(name)
	if !ok {
		return nil
	}
	return brokerByName[base]
}

const listenerPrefix = "listener.name."

// perMechanism are settings that a listener has once for every SASL mechanism:
// listener.name.<listener>.<mechanism>.<setting>.
var perMechanism = []string{
	"sasl.jaas.config", "sasl.login.callback.handler.class", "sasl.login.class", "sasl.server.callback.handler.class", "connections.max.reauth.ms",
}

// listenerOverride takes the prefix for one listener off a name. ok is false
// if the name has none.
func listenerOverride(name string) (base string, ok bool) {
	rest, ok := strings.CutPrefix(name, listenerPrefix)
	if !ok {
		return "", false
	}
	_, base, ok = strings.Cut(rest, ".")
	if !ok {
		return "", false
	}
	for _, m := range perMechanism {
		if strings.HasSuffix(base, m) {
			return m, true
		}
	}
	return base, true
}
