package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Listener is one address this broker serves.
type Listener struct {
	// Name tells listeners apart, in capitals.
	Name string
	// SecurityProtocol is PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. Others
	// than PLAINTEXT are refused for now.
	SecurityProtocol string
	// Host is the address to bind; empty means all addresses.
	Host string
	// Port is the port to bind; 0 means any free one.
	Port int32
	// AdvertisedHost and AdvertisedPort are what clients are told. Port 0 means
	// the port that was bound.
	AdvertisedHost string
	AdvertisedPort int32
	// Advertised is false for a listener that advertised.listeners leaves out.
	Advertised bool
}

// endpoint is one part of listeners or advertised.listeners.
type endpoint struct {
	name, protocol, host string
	port                 int32
}

// securityProtocols are what a listener's name may stand for.
var securityProtocols = []string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}

// parseProtocolMap reads listener.security.protocol.map.
func parseProtocolMap(text string) (map[string]string, error) {
	const key = "listener.security.protocol.map"
	m := map[string]string{}
	for _, pair := range splitList(trim(text)) {
		if pair == "" {
			continue
		}
		i := strings.LastIndexByte(pair, ':')
		if i < 0 {
			return nil, wordsf("Error parsing configuration property '%s': %s is not of the form name:protocol", key, pair)
		}
		name, protocol := strings.ToUpper(trim(pair[:i])), trim(pair[i+1:])
		if !slices.Contains(securityProtocols, strings.ToUpper(protocol)) {
			return nil, wordsf("Invalid security protocol `%s` defined in %s", protocol, key)
		}
		m[name] = strings.ToUpper(protocol)
	}
	return m, nil
}

// parseEndpoints reads a list of name://host:port. Distinct ports are asked
// for where the list is what is bound.
func parseEndpoints(text string, protocols map[string]string, distinctPorts bool) ([]endpoint, error) {
	var out []endpoint
	for _, part := range splitList(trim(text)) {
		if part == "" {
			continue
		}
		e, err := parseEndpoint(part, protocols)
		if err != nil {
			return nil, wordsf("Error creating broker listeners from '%s': %v", text, err)
		}
		if slices.ContainsFunc(out, func(o endpoint) bool { return o.name == e.name }) {
			return nil, wordsf("Each listener must have a different name, listeners: %s", text)
		}
		out = append(out, e)
	}
	if distinctPorts {
		return out, checkPorts(out, text)
	}
	return out, nil
}

func parseEndpoint(part string, protocols map[string]string) (endpoint, error) {
	unreadable := wordsf("Unable to parse %s to a broker endpoint", part)
	cut := strings.LastIndex(part, "://")
	if cut < 0 {
		return endpoint{}, unreadable
	}
	name, address := strings.ToUpper(part[:cut]), part[cut+len("://"):]
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 {
		return endpoint{}, unreadable
	}
	host, portText := address[:colon], address[colon+1:]
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.ContainsFunc(host, notInHost) || !digits(strings.TrimPrefix(portText, "-")) {
		return endpoint{}, unreadable
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil || port < 0 || port > 65535 {
		return endpoint{}, wordsf("the port of %s must be from 0 to 65535", part)
	}
	protocol, ok := protocols[name]
	if !ok {
		return endpoint{}, wordsf("No security protocol defined for listener %s", name)
	}
	return endpoint{name, protocol, host, int32(port)}, nil
}

func notInHost(r rune) bool {
	switch {
	case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		return false
	}
	return !strings.ContainsRune("-%._:", r)
}

// checkPorts refuses two listeners on one port, unless one has an IPv4 and the
// other an IPv6 address. Port 0 is any free one and never the same twice.
func checkPorts(all []endpoint, text string) error {
	byPort := map[int32][]endpoint{}
	for _, e := range all {
		if e.port != 0 {
			byPort[e.port] = append(byPort[e.port], e)
		}
	}
	for _, first := range all {
		same := byPort[first.port]
		if len(same) < 2 {
			continue
		}
		if len(same) == 2 && families(same[0].host)+families(same[1].host) == ipv4+ipv6 {
			continue
		}
		if len(same) == 2 && families(same[0].host) > 0 && families(same[1].host) > 0 {
			return wordsf("If you have two listeners on the same port then one needs to be IPv4 and the other IPv6, listeners: %s, port: %d", text, first.port)
		}
		return wordsf("Each listener must have a different port, listeners: %s", text)
	}
	return nil
}

const (
	ipv4 = 1
	ipv6 = 10
)

// families says whether a host is an address, and of which kind; 0 if it is a
// name or nothing.
func families(host string) int {
	a, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return 0
	case a.Is4():
		return ipv4
	default:
		return ipv6
	}
}

// words are an error told in Kafka's words, which are sentences.
type words string

func (w words) Error() string { return string(w) }

func wordsf(format string, args ...any) error { return words(fmt.Sprintf(format, args...)) }

// listenerError is a problem with one of the keys about listeners.
type listenerError struct {
	key string
	err error
}

func (e *listenerError) Error() string { return e.err.Error() }

// listenersOf works out what is bound and what is advertised. hostname stands
// for an advertised address that names no host. Listeners of a KRaft
// controller are left out: nothing of ours answers there.
func listenersOf(v view, hostname string) ([]Listener, *listenerError) {
	fail := func(key string, err error) ([]Listener, *listenerError) { return nil, &listenerError{key, err} }
	protocols, err := parseProtocolMap(v.string("listener.security.protocol.map"))
	if err != nil {
		return fail("listener.security.protocol.map", err)
	}
	controllers := splitList(strings.ToUpper(v.string("controller.listener.names")))
	isController := func(e endpoint) bool { return slices.Contains(controllers, e.name) }
	bound, err := parseEndpoints(v.string("listeners"), protocols, true)
	if err != nil {
		return fail("listeners", err)
	}
	bound = slices.DeleteFunc(bound, isController)
	if len(bound) == 0 {
		return fail("listeners", wordsf("there must be a listener for clients"))
	}
	advertised := bound
	if t := v.get("advertised.listeners"); t.set {
		if advertised, err = parseEndpoints(t.text, protocols, false); err != nil {
			return fail("advertised.listeners", err)
		}
		advertised = slices.DeleteFunc(advertised, isController)
	}
	if err := checkAdvertised(advertised, bound); err != nil {
		return fail("advertised.listeners", err)
	}
	out := make([]Listener, len(bound))
	for i, b := range bound {
		out[i] = Listener{Name: b.name, SecurityProtocol: b.protocol, Host: b.host, Port: b.port}
		for _, a := range advertised {
			if a.name == b.name {
				out[i].AdvertisedHost, out[i].AdvertisedPort, out[i].Advertised = a.host, a.port, true
				if a.host == "" {
					out[i].AdvertisedHost = hostname
				}
			}
		}
	}
	return out, nil
}

func checkAdvertised(advertised, bound []endpoint) error {
	if len(advertised) == 0 {
		return wordsf("There must be at least one broker advertised listener.")
	}
	for _, a := range advertised {
		if !slices.ContainsFunc(bound, func(b endpoint) bool { return a.name == b.name }) {
			return wordsf("advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. "+
				"Found %s. The valid options based on the current configuration are %s", endpointNames(advertised), endpointNames(bound))
		}
		if a.host == "0.0.0.0" {
			return wordsf("advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address.")
		}
	}
	return nil
}

func endpointNames(all []endpoint) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return strings.Join(names, ",")
}

// interBrokerListener works out the name of the listener that brokers use
// among themselves.
func interBrokerListener(v view, listeners []Listener) (string, *listenerError) {
	const key, protocolKey = "inter.broker.listener.name", "security.inter.broker.protocol"
	fail := func(key, format string, args ...any) (string, *listenerError) {
		return "", &listenerError{key, wordsf(format, args...)}
	}
	name := strings.ToUpper(v.string(key))
	if name == "" {
		name = v.string(protocolKey)
	} else {
		if _, both := v.text(protocolKey); both {
			return fail(key, "Only one of %s and %s should be set.", key, protocolKey)
		}
		protocols, _ := parseProtocolMap(v.string("listener.security.protocol.map"))
		if protocols[name] == "" {
			return fail(key, "Listener with name %s defined in %s not found in listener.security.protocol.map.", name, key)
		}
	}
	var names []string
	for _, l := range listeners {
		if !l.Advertised {
			continue
		}
		if l.Name == name {
			return name, nil
		}
		names = append(names, l.Name)
	}
	return fail(key, "%s must be a listener name defined in advertised.listeners. "+
		"The valid options based on currently configured listeners are %s", key, strings.Join(names, ","))
}
