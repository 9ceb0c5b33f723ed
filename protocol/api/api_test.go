package api_test

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"barnabas/protocol/api"
)

func TestTheTableFitsTheCodecs(t *testing.T) {
	t.Parallel()
	last := int16(-1)
	for _, a := range api.Table() {
		req := kmsg.RequestForKey(a.Key)
		if req == nil {
			t.Fatalf("kmsg has no API %d", a.Key)
		}
		if a.Key <= last {
			t.Errorf("%s is out of order", a.Name)
		}
		last = a.Key
		if a.Max > req.MaxVersion() {
			t.Errorf("%s: version %d is offered, kmsg encodes up to %d", a.Name, a.Max, req.MaxVersion())
		}
		for v := a.Min; v <= a.Max; v++ {
			req.SetVersion(v)
			if req.IsFlexible() != a.FlexibleRequest(v) {
				t.Errorf("%s version %d: flexible is %v in kmsg", a.Name, v, req.IsFlexible())
			}
		}
		if got := api.Lookup(a.Key); got == nil || got.Name != a.Name {
			t.Errorf("Lookup(%d) = %v", a.Key, got)
		}
	}
	if api.Lookup(999) != nil {
		t.Error("API 999 is offered")
	}
}

// paths gives the way to every slice of structs, strings or numbers below a
// struct type, through first elements.
func paths(typ reflect.Type, prefix []int) (all [][]int) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() || f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() == reflect.Uint8 {
			continue
		}
		p := append(slices.Clone(prefix), i)
		all = append(all, p)
		if f.Type.Elem().Kind() == reflect.Struct {
			all = append(all, paths(f.Type.Elem(), p)...)
		}
	}
	return all
}

// fill puts n zero elements into the slice at the end of a path, each with a
// tagged field that nobody knows if tags is set, and one into each slice on the
// way.
func fill(v reflect.Value, path []int, n int, tags bool) {
	f := v.Field(path[0])
	if len(path) > 1 {
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		fill(f.Index(0), path[1:], n, tags)
		return
	}
	f.Set(reflect.MakeSlice(f.Type(), n, n))
	if f.Type().Elem().Kind() != reflect.Struct || !tags {
		return
	}
	for i := range n {
		if t, ok := f.Index(i).FieldByName("UnknownTags").Addr().Interface().(*kmsg.Tags); ok {
			t.Set(100, nil)
		}
	}
}

// TestDecodingStaysBelowTheFactor decodes, for every API and version, the frames
// that take the most heap for their size: one array full of the smallest
// elements, for each array there is.
func TestDecodingStaysBelowTheFactor(t *testing.T) {
	const elements = 20000
	for _, a := range api.Table() {
		if a.Factor == 0 {
			continue // counted, not estimated: wire.ProduceCost
		}
		worst := 0.0
		for v := a.Min; v <= a.Max; v++ {
			for _, p := range paths(reflect.TypeOf(kmsg.RequestForKey(a.Key)).Elem(), nil) {
				for _, tags := range []bool{false, a.FlexibleRequest(v)} {
					req := kmsg.RequestForKey(a.Key)
					req.SetVersion(v)
					fill(reflect.ValueOf(req).Elem(), p, elements, tags)
					if body := req.AppendTo(nil); len(body) > elements {
						worst = max(worst, float64(heapOf(t, a.Key, v, body))/float64(len(body)))
					}
				}
			}
			if body := tagged(a.Key, v, elements); len(body) > elements {
				worst = max(worst, float64(heapOf(t, a.Key, v, body))/float64(len(body)))
			}
		}
		t.Logf("%-26s %5.1f bytes of heap for a byte on the wire, charged %d", a.Name, worst, a.Factor)
		if worst > float64(a.Factor) {
			t.Errorf("%s takes %.1f bytes of heap for a byte on the wire, %d are charged", a.Name, worst, a.Factor)
		}
	}
}

// tagged is a request that is full of empty tagged fields nobody knows.
func tagged(key, version int16, n int) []byte {
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	tags := reflect.ValueOf(req).Elem().FieldByName("UnknownTags").Addr().Interface().(*kmsg.Tags)
	for i := range n {
		tags.Set(uint32(1000+i), nil)
	}
	return req.AppendTo(nil)
}

func heapOf(t *testing.T, key, version int16, body []byte) uint64 {
	t.Helper()
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := req.(interface{ UnsafeReadFrom([]byte) error }).UnsafeReadFrom(body)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatalf("API %d version %d: %v", key, version, err)
	}
	return after.TotalAlloc - before.TotalAlloc
}
