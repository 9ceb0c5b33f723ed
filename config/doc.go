// Package config is the broker's configuration: every setting declared once,
// and what follows from the declarations.
//
// A Setting is one row of the tables (table_*.go): name, type, default, valid
// values, importance, when it may change, what it does here, documentation.
// The names, types, defaults and bounds are those of Apache Kafka 3.9, so that
// a server.properties of Kafka works; settings of our own start with
// "barnabas.". There are topic settings, which a topic may have of its own,
// and broker settings. Most topic settings have synonyms among the broker
// settings, which are their defaults.
//
// Load reads the sources a broker is started with (flags before environment
// before file) into a Static. A Dynamic is what the cluster's metadata holds:
// changes made at run time for all brokers and for one. From both follow the
// values in force: Static.Broker and Static.Topic give them typed,
// Static.DescribeBroker and Static.DescribeTopic as DescribeConfigs answers
// them, with all their sources. ValidateTopic and ValidateBrokerChange judge a
// change in Kafka's words.
//
// Invariants: what is loaded is valid; a setting whose absence would weaken
// security or durability (refuse.go) is either honoured or refused, never
// ignored; secrets appear in no message and no description.
//
// A Static is immutable and everything else here is a function of its
// arguments, so all of it may be used by many goroutines. Only Load touches
// the system: it reads one file and may ask for the host's name.
//
// Start reading at setting.go, then load.go, describe.go and change.go.
// docs/config.md and docs/server.properties are generated from the tables
// (docs.go); a test keeps them current.
package config

//go:generate go test -run TestGeneratedDocuments -update .
