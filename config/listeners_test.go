package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestListeners(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings string // separated by blanks
		want     string
	}{
		{"listeners=PLAINTEXT://:9092", "PLAINTEXT/PLAINTEXT :9092 as host.test:9092"},
		{"listeners=plaintext://127.0.0.1:0", "PLAINTEXT/PLAINTEXT 127.0.0.1:0 as 127.0.0.1:0"},
		{"listeners=PLAINTEXT://[::1]:9092", "PLAINTEXT/PLAINTEXT ::1:9092 as ::1:9092"},
		{"listeners=PLAINTEXT://fe80::1%eth0:9092", "PLAINTEXT/PLAINTEXT fe80::1%eth0:9092 as fe80::1%eth0:9092"},
		{"listeners=PLAINTEXT://0.0.0.0:9092 advertised.listeners=PLAINTEXT://b1.example:19092", "PLAINTEXT/PLAINTEXT 0.0.0.0:9092 as b1.example:19092"},
		{
			"listeners=IN://:9092,OUT://:9093 listener.security.protocol.map=IN:PLAINTEXT,out:plaintext inter.broker.listener.name=in advertised.listeners=IN://a:1,OUT://b:1",
			"IN/PLAINTEXT :9092 as a:1; OUT/PLAINTEXT :9093 as b:1",
		},
		{
			"listeners=IN://:9092,OUT://:9093 listener.security.protocol.map=IN:PLAINTEXT,OUT:PLAINTEXT inter.broker.listener.name=IN advertised.listeners=IN://a:1",
			"IN/PLAINTEXT :9092 as a:1; OUT/PLAINTEXT :9093 not advertised",
		},
		{
			"listeners=A://127.0.0.1:9092,B://[::1]:9092 listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT inter.broker.listener.name=A",
			"A/PLAINTEXT 127.0.0.1:9092 as 127.0.0.1:9092; B/PLAINTEXT ::1:9092 as ::1:9092",
		},
		{
			"listeners=A://:0,B://:0 listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT inter.broker.listener.name=A",
			"A/PLAINTEXT :0 as host.test:0; B/PLAINTEXT :0 as host.test:0",
		},
		{"listeners=PLAINTEXT://0.0.0.0:9092", "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address."},
		{"listeners=PLAINTEXT://:9092,PLAINTEXT://:9093", "Each listener must have a different name, listeners: PLAINTEXT://:9092,PLAINTEXT://:9093"},
		{
			"listeners=A://:9092,B://:9092 listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT",
			"Each listener must have a different port, listeners: A://:9092,B://:9092",
		},
		{
			"listeners=A://127.0.0.1:1,B://127.0.0.2:1 listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT",
			"If you have two listeners on the same port then one needs to be IPv4 and the other IPv6, listeners: A://127.0.0.1:1,B://127.0.0.2:1, port: 1",
		},
		{"listeners=PLAINTEXT:9092", "Error creating broker listeners from 'PLAINTEXT:9092': Unable to parse PLAINTEXT:9092 to a broker endpoint"},
		{"listeners=PLAINTEXT://a_b!:9092", "Error creating broker listeners from 'PLAINTEXT://a_b!:9092': Unable to parse PLAINTEXT://a_b!:9092 to a broker endpoint"},
		{"listeners=PLAINTEXT://a:x", "Error creating broker listeners from 'PLAINTEXT://a:x': Unable to parse PLAINTEXT://a:x to a broker endpoint"},
		{"listeners=PLAINTEXT://:65536", "Error creating broker listeners from 'PLAINTEXT://:65536': the port of PLAINTEXT://:65536 must be from 0 to 65535"},
		{"listeners=PLAINTEXT://:-1", "Error creating broker listeners from 'PLAINTEXT://:-1': the port of PLAINTEXT://:-1 must be from 0 to 65535"},
		{"listeners=X://:1", "Error creating broker listeners from 'X://:1': No security protocol defined for listener X"},
		{"listener.security.protocol.map=X:FOO", "Invalid security protocol `FOO` defined in listener.security.protocol.map"},
		{"listener.security.protocol.map=X", "Error parsing configuration property 'listener.security.protocol.map': X is not of the form name:protocol"},
		{"listeners=,", "there must be a listener for clients"},
		{"advertised.listeners=,", "There must be at least one broker advertised listener."},
		{
			"advertised.listeners=SSL://a:1",
			"advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. Found SSL. The valid options based on the current configuration are PLAINTEXT",
		},
		{"inter.broker.listener.name=X", "Listener with name X defined in inter.broker.listener.name not found in listener.security.protocol.map."},
		{"inter.broker.listener.name=SSL", "inter.broker.listener.name must be a listener name defined in advertised.listeners. The valid options based on currently configured listeners are PLAINTEXT"},
		{"inter.broker.listener.name=PLAINTEXT security.inter.broker.protocol=PLAINTEXT", "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set."},
	} {
		s, _, err := Load(LoadOptions{Overrides: strings.Fields(tc.settings), Hostname: "host.test"})
		if err != nil {
			if !strings.HasSuffix(err.Error(), ": "+tc.want) {
				t.Errorf("%s:\n got %v\nwant %s", tc.settings, err, tc.want)
			}
			continue
		}
		var got []string
		for _, l := range s.Broker().Listeners {
			text := fmt.Sprintf("%s/%s %s:%d", l.Name, l.SecurityProtocol, l.Host, l.Port)
			if l.Advertised {
				text += fmt.Sprintf(" as %s:%d", l.AdvertisedHost, l.AdvertisedPort)
			} else {
				text += " not advertised"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.settings, strings.Join(got, "; "), tc.want)
		}
	}
}

func FuzzListeners(f *testing.F) {
	f.Add("PLAINTEXT://:9092,A://[::1]:0", "PLAINTEXT:PLAINTEXT,A:SSL")
	f.Add("X://a:1,Y://1.2.3.4:1", "X:PLAINTEXT,Y:PLAINTEXT")
	f.Fuzz(func(t *testing.T, listeners, protocols string) {
		m, err := parseProtocolMap(protocols)
		if err != nil {
			return
		}
		all, err := parseEndpoints(listeners, m, true)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, e := range all {
			if names[e.name] || e.protocol == "" || e.port < 0 || e.port > 65535 {
				t.Fatalf("%q gave %+v", listeners, all)
			}
			names[e.name] = true
			// What is read can be written and read again.
			again, err := parseEndpoints(fmt.Sprintf("%s://[%s]:%d", e.name, e.host, e.port), m, true)
			if err != nil || len(again) != 1 || again[0] != e {
				t.Fatalf("%+v read again: %+v, %v", e, again, err)
			}
		}
	})
}
