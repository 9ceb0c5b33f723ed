package znode

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Endpoint is where a broker is reached by one listener.
type Endpoint struct {
	Listener, SecurityProtocol, Host string
	Port                             int32
}

// VersionRange is the versions of a feature that a broker supports.
type VersionRange struct {
	Min int16 `json:"min_version"`
	Max int16 `json:"max_version"`
}

// Broker is a broker's registration.
type Broker struct {
	Endpoints []Endpoint
	// Rack is empty if the broker has none.
	Rack string
	// JMXPort is -1 if there is none.
	JMXPort int32
	// TimestampMs is when it registered.
	TimestampMs int64
	Features    map[string]VersionRange
}

type brokerDoc struct {
	Version   int                     `json:"version"`
	Host      *string                 `json:"host"`
	Port      int32                   `json:"port"`
	JMXPort   *int32                  `json:"jmx_port"`
	Timestamp string                  `json:"timestamp"`
	Endpoints []string                `json:"endpoints,omitempty"`
	Protocols map[string]string       `json:"listener_security_protocol_map,omitempty"`
	Rack      *string                 `json:"rack,omitempty"`
	Features  map[string]VersionRange `json:"features"`
}

const plaintext = "PLAINTEXT"

// Encode writes the document, version 5. Host and port are those of the first
// PLAINTEXT endpoint, for readers from before listeners had names.
func (b *Broker) Encode() []byte {
	doc := brokerDoc{
		Version: 5, Port: -1, JMXPort: &b.JMXPort, Timestamp: strconv.FormatInt(b.TimestampMs, 10),
		Protocols: make(map[string]string, len(b.Endpoints)), Features: b.Features,
	}
	if doc.Features == nil {
		doc.Features = map[string]VersionRange{}
	}
	if b.Rack != "" {
		doc.Rack = &b.Rack
	}
	for i := range b.Endpoints {
		e := &b.Endpoints[i]
		if e.SecurityProtocol == plaintext && doc.Host == nil {
			doc.Host, doc.Port = &e.Host, e.Port
		}
		doc.Protocols[e.Listener] = e.SecurityProtocol
		doc.Endpoints = append(doc.Endpoints, e.url())
	}
	return encode(doc)
}

func (e *Endpoint) url() string {
	host := e.Host
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		host = "[" + host + "]"
	}
	return e.Listener + "://" + host + ":" + decimal(e.Port)
}

// DecodeBroker reads a registration of version 1 to 5.
func DecodeBroker(data []byte) (*Broker, error) {
	var doc brokerDoc
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	b := &Broker{JMXPort: -1, Features: doc.Features}
	if doc.JMXPort != nil {
		b.JMXPort = *doc.JMXPort
	}
	if doc.Rack != nil {
		b.Rack = *doc.Rack
	}
	b.TimestampMs, _ = strconv.ParseInt(doc.Timestamp, 10, 64) // only for people
	switch {
	case doc.Version < 1:
		return nil, fmt.Errorf("%w: broker registration of version %d", ErrMalformed, doc.Version)
	case doc.Version == 1:
		if doc.Host == nil {
			return nil, fmt.Errorf("%w: broker registration without host", ErrMalformed)
		}
		b.Endpoints = []Endpoint{{plaintext, plaintext, *doc.Host, doc.Port}}
		return b, nil
	}
	for _, u := range doc.Endpoints {
		e, err := parseEndpoint(u, doc.Protocols)
		if err != nil {
			return nil, err
		}
		b.Endpoints = append(b.Endpoints, e)
	}
	return b, nil
}

func parseEndpoint(url string, protocols map[string]string) (Endpoint, error) {
	bad := fmt.Errorf("%w: endpoint %q", ErrMalformed, url)
	name, rest, ok := strings.Cut(url, "://")
	colon := strings.LastIndexByte(rest, ':')
	if !ok || name == "" || colon < 0 {
		return Endpoint{}, bad
	}
	port, err := strconv.ParseInt(rest[colon+1:], 10, 32)
	if err != nil {
		return Endpoint{}, bad
	}
	protocol, ok := protocols[name]
	if !ok {
		if protocols != nil {
			return Endpoint{}, bad
		}
		protocol = name // before version 4 a listener's name is its protocol
	}
	host := strings.TrimSuffix(strings.TrimPrefix(rest[:colon], "["), "]")
	return Endpoint{name, protocol, host, int32(port)}, nil
}

// EncodeFeatures writes /feature, version 2.
func EncodeFeatures(f *Features) []byte {
	type level struct {
		Max int16 `json:"max_version_level"`
	}
	levels := make(map[string]level, len(f.Levels))
	for name, n := range f.Levels {
		levels[name] = level{n}
	}
	status := 0
	if f.Enabled {
		status = 1
	}
	return encode(struct {
		Version  int              `json:"version"`
		Status   int              `json:"status"`
		Features map[string]level `json:"features"`
	}{2, status, levels})
}

// Features is what /feature says.
type Features struct {
	Enabled bool
	// Levels are the finalized levels by name.
	Levels map[string]int16
}

// DecodeFeatures reads /feature, version 1 or 2.
func DecodeFeatures(data []byte) (*Features, error) {
	var doc struct {
		Status   json.Number `json:"status"`
		Features map[string]struct {
			Max int16 `json:"max_version_level"`
		} `json:"features"`
	}
	if err := decode(data, &doc); err != nil {
		return nil, err
	}
	f := &Features{Enabled: doc.Status == "1", Levels: make(map[string]int16, len(doc.Features))}
	if doc.Status != "0" && doc.Status != "1" {
		return nil, fmt.Errorf("%w: feature status %q", ErrMalformed, doc.Status)
	}
	for name, l := range doc.Features {
		f.Levels[name] = l.Max
	}
	return f, nil
}
