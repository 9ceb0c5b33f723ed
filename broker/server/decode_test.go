package server

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/api"
	"barnabas/protocol/wire"
)

// FuzzDecode takes frames through what a connection does with them before a
// handler sees the request: no panic, and nothing but an error for garbage.
func FuzzDecode(f *testing.F) {
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c"))
	for _, a := range api.Table() {
		for v := a.Min; v <= a.Max; v++ {
			req := kmsg.RequestForKey(a.Key)
			req.SetVersion(v)
			f.Add(formatter.AppendRequest(nil, req, 1)[4:])
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if len(frame) < wire.FixedHeader+2 {
			return
		}
		h := wire.ParseFixed(frame)
		row := api.Lookup(h.Key)
		if row == nil || !row.Supports(h.Version) {
			return
		}
		_, body, err := wire.ParseHeader(frame, row.FlexibleRequest(h.Version))
		if err != nil {
			return
		}
		wire.ProduceCost(body, h.Version)
		req, err := decode(row, h.Version, body, false)
		if err != nil {
			return
		}
		again, err := decode(row, h.Version, req.AppendTo(nil), false)
		if err != nil {
			t.Fatalf("%s version %d: what was decoded and encoded cannot be decoded: %v", row.Name, h.Version, err)
		}
		if again.GetVersion() != h.Version {
			t.Fatal("the version changed")
		}
	})
}
