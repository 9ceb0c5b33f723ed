package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// LoadOptions are the sources of a configuration, the weakest first.
type LoadOptions struct {
	// File is a server.properties; empty means none.
	File string
	// Env is the environment as os.Environ gives it.
	Env []string
	// Overrides are key=value pairs of the command line. The last of a key wins.
	Overrides []string
	// Hostname is advertised by listeners that name no host. Empty: the name
	// of the machine.
	Hostname string
}

// given is what was given for a key, and where.
type given struct {
	text   string
	origin Origin
}

// Load reads and validates a configuration. The warnings are worth an
// operator's look: unknown keys, and settings that do not act here. The error
// joins all problems found, each a *Problem if it is about a key.
func Load(o LoadOptions) (*Static, []string, error) {
	assignments, err := gather(o)
	if err != nil {
		return nil, nil, err
	}
	l := &loading{given: map[string]given{}}
	for _, a := range assignments {
		l.put(a)
	}
	l.checkKeys()
	l.joinBrokerIDs()
	if len(l.problems) > 0 {
		return nil, l.warnings, errors.Join(l.problems...)
	}
	s := l.static()
	l.checkListeners(s, hostname(o.Hostname))
	l.checkTogether(s)
	if len(l.problems) > 0 {
		return nil, l.warnings, errors.Join(l.problems...)
	}
	s.broker = brokerOf(s.view(Dynamic{}), s.listeners, s.interBroker)
	l.warnAbout(s)
	return s, l.warnings, nil
}

// Defaults is what a broker without any configuration starts with.
func Defaults() *Static {
	s, _, err := Load(LoadOptions{Hostname: "localhost"})
	if err != nil {
		panic("config: the defaults are invalid: " + err.Error())
	}
	return s
}

// gather reads all sources, the weakest first.
func gather(o LoadOptions) ([]assignment, error) {
	var all []assignment
	if o.File != "" {
		var err error
		if all, err = readProperties(o.File); err != nil {
			return nil, err
		}
	}
	all = append(all, fromEnvironment(o.Env)...)
	for _, kv := range o.Overrides {
		k, v, ok := strings.Cut(kv, "=")
		if k = trim(k); !ok || k == "" {
			return nil, fmt.Errorf("--override %q: use key=value", kv)
		}
		all = append(all, assignment{k, v, Origin{}})
	}
	return all, nil
}

func hostname(wanted string) string {
	if wanted != "" {
		return wanted
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		return h
	}
	return "localhost"
}

// loading is a configuration while it is put together.
type loading struct {
	given    map[string]given
	warnings []string
	problems []error
}

func (l *loading) put(a assignment) {
	if before, ok := l.given[a.key]; ok && a.origin.File != "" {
		l.warn("%s: %s is set a second time; the value of line %d is not used", a.origin, a.key, before.origin.Line)
	}
	l.given[a.key] = given{a.value, a.origin}
}

func (l *loading) warn(format string, args ...any) {
	l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
}

// reject notes a problem with a key, with the place where it was given.
func (l *loading) reject(key, reason, allowed, remedy string) {
	p := &Problem{Key: key, Reason: reason, Allowed: allowed, Remedy: remedy}
	s := resolve(key)
	if g, ok := l.given[key]; ok {
		p.Origin, p.Value = g.origin.String(), shownValue(s, g.text)
	} else if s != nil && s.HasDefault() {
		p.Value = s.Default
	}
	l.problems = append(l.problems, p)
}

func (l *loading) keys() []string {
	keys := make([]string, 0, len(l.given))
	for k := range l.given {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// checkKeys looks at every key by itself.
func (l *loading) checkKeys() {
	for _, key := range l.keys() {
		g := l.given[key]
		if reason, remedy := refuse(key, g.text); reason != "" {
			l.reject(key, reason, "", remedy)
			continue
		}
		s := resolve(key)
		switch {
		case s == nil:
			if refusals[key].reason == "" {
				l.warn("%s: unknown setting %s is ignored", g.origin, key)
			}
		case trim(g.text) == "" && s.unsetByEmpty():
			delete(l.given, key)
		default:
			if _, _, problem := s.read(g.text); problem != "" {
				l.reject(key, problem, s.Allowed(), "")
			}
		}
	}
}

// joinBrokerIDs makes node.id and broker.id two names of one setting, as Kafka
// does. -1 asks Kafka to choose an id; here that is the default.
func (l *loading) joinBrokerIDs() {
	for _, key := range []string{"broker.id", "node.id"} {
		if g, ok := l.given[key]; ok && trim(g.text) == "-1" {
			delete(l.given, key)
		}
	}
	id, hasID := l.given["broker.id"]
	node, hasNode := l.given["node.id"]
	switch {
	case hasID && hasNode && trim(id.text) != trim(node.text):
		l.reject("node.id", "You must set `node.id` to the same value as `broker.id`.", "", "broker.id is set to "+shownValue(brokerByName["broker.id"], id.text)+" at "+id.origin.String())
	case hasID:
		l.given["node.id"] = id
	case hasNode:
		l.given["broker.id"] = node
	}
}

func (l *loading) static() *Static {
	s := &Static{given: make(map[string]string, len(l.given))}
	for k, g := range l.given {
		s.given[k] = g.text
	}
	return s
}

// checkListeners works out the listeners and refuses those that cannot be
// served.
func (l *loading) checkListeners(s *Static, hostname string) {
	v := s.view(Dynamic{})
	listeners, err := listenersOf(v, hostname)
	if err != nil {
		l.reject(err.key, err.Error(), "", "")
		return
	}
	for _, x := range listeners {
		if reason := listenerRefusal(x); reason != "" {
			l.reject("listeners", reason, "", "use PLAINTEXT listeners only, --override listeners=PLAINTEXT://"+net.JoinHostPort(x.Host, fmt.Sprint(x.Port)))
		}
	}
	if s.interBroker, err = interBrokerListener(v, listeners); err != nil && len(l.problems) == 0 {
		l.reject(err.key, err.Error(), "", "")
	}
	s.listeners = listeners
}

// checkTogether holds the settings against one another.
func (l *loading) checkTogether(s *Static) {
	v := s.view(Dynamic{})
	for _, c := range conflicts {
		if reason := c.check(v); reason != "" {
			l.reject(c.key, reason, "", "")
		}
	}
}

// warnAbout tells what was asked for and does not happen here, without harm.
func (l *loading) warnAbout(s *Static) {
	for _, key := range l.keys() {
		g := l.given[key]
		switch {
		case isKRaft(key) && key != "node.id" && trim(g.text) != "":
			l.warn("%s: %s belongs to KRaft and is ignored: this broker is its own controller and keeps its metadata itself", g.origin, key)
		case strings.HasPrefix(key, "ssl.") && resolve(key) != nil && trim(g.text) != "":
			l.warn("%s: %s is ignored: no listener uses TLS", g.origin, key)
		case internalTopics[key] && trim(g.text) != "1":
			l.warn("%s: %s=%s: with embedded metadata there is one broker, so internal topics get one replica", g.origin, key, g.text)
		}
	}
	for _, x := range s.listeners {
		if x.AdvertisedHost == "::" {
			l.warn("listener %s advertises the address ::, which no client can reach; set advertised.listeners", x.Name)
		}
	}
}

// internalTopics are settings that embedded metadata holds at one.
var internalTopics = nameSet("offsets.topic.replication.factor", "transaction.state.log.replication.factor", "transaction.state.log.min.isr")

// isKRaft tells whether a setting has a meaning in KRaft only.
func isKRaft(key string) bool {
	s := brokerByName[key]
	if s == nil || strings.HasPrefix(key, "zookeeper.") {
		return false
	}
	return slices.ContainsFunc(metadataSettings, func(m Setting) bool { return m.Name == key })
}
