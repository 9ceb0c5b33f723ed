package api_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/api"
)

var update = flag.Bool("update", false, "write testdata/frames.txt anew")

const framesFile = "testdata/frames.txt"

// message is what requests and responses have in common.
type message interface {
	SetVersion(int16)
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}

func messageOf(key int16, kind string) message {
	if kind == "request" {
		return kmsg.RequestForKey(key)
	}
	return kmsg.ResponseForKey(key)
}

// populate gives every field a value that is not its default: numbers count up,
// slices have two elements.
func populate(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Version" && f.Name != "UnknownTags" {
				populate(v.Field(i), next)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			populate(v.Index(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			populate(v.Index(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), next)
	case reflect.String:
		*next++
		v.SetString(fmt.Sprint("s", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		*next++
		v.SetInt(int64(*next % 100))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		*next++
		v.SetUint(uint64(*next % 100))
	case reflect.Float64:
		v.SetFloat(1.5)
	}
}

// frames gives a populated body of every API and version in both directions.
func frames() []byte {
	var b bytes.Buffer
	for _, a := range api.Table() {
		for v := a.Min; v <= a.Max; v++ {
			for _, kind := range []string{"request", "response"} {
				m, next := messageOf(a.Key, kind), 0
				populate(reflect.ValueOf(m).Elem(), &next)
				m.SetVersion(v)
				fmt.Fprintf(&b, "%s %d %d %s %s\n", a.Name, a.Key, v, kind, "x"+hex.EncodeToString(m.AppendTo(nil)))
			}
		}
	}
	return b.Bytes()
}

// TestBodiesOnTheWire holds the codecs against bytes on file: a new version of
// the codec library that reads or writes them otherwise fails here.
func TestBodiesOnTheWire(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(framesFile, frames(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(framesFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var name, kind, text string
		var key, version int16
		if _, err := fmt.Sscan(s.Text(), &name, &key, &version, &kind, &text); err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.TrimPrefix(text, "x"))
		if err != nil {
			t.Fatal(err)
		}
		m := messageOf(key, kind)
		m.SetVersion(version)
		if err := m.ReadFrom(want); err != nil {
			t.Errorf("%s version %d %s: %v", name, version, kind, err)
			continue
		}
		if got := m.AppendTo(nil); !bytes.Equal(got, want) {
			t.Errorf("%s version %d %s: decoded and encoded again it is\n%x, not\n%x", name, version, kind, got, want)
		}
		seen[fmt.Sprint(key, version, kind)] = true
	}
	for _, a := range api.Table() {
		for v := a.Min; v <= a.Max; v++ {
			for _, kind := range []string{"request", "response"} {
				if !seen[fmt.Sprint(a.Key, v, kind)] {
					t.Errorf("%s version %d has no %s in %s: run the test with -update", a.Name, v, kind, framesFile)
				}
			}
		}
	}
}
