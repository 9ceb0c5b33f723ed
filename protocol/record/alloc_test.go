package record

import (
	"bytes"
	"testing"
)

// TestNoAllocations judges good plain batches of every kind, which takes no memory.
func TestNoAllocations(t *testing.T) {
	for name, change := range map[string]func(*Rules){
		"create time":  func(*Rules) {},
		"append time":  appendTime,
		"bounded time": func(r *Rules) { r.BeforeMaxMs, r.AfterMaxMs = 1000, 1000 },
		"compacted":    compact,
		"header only":  func(r *Rules) { r.HeaderOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			data := batchOf(100, None)
			fresh := bytes.Clone(data)
			r := rules(change)
			n := testing.AllocsPerRun(100, func() {
				copy(data, fresh)
				if _, err := ValidateProduce(data, r); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// TestManyBadRecords refuses a batch whose records are all bad: not all of them are named.
func TestManyBadRecords(t *testing.T) {
	t.Parallel()
	b := NewBuilder(BuilderOptions{Codec: Zstd, DefaultLevel: true})
	for range 200_000 {
		b.Append(now, nil, nil)
	}
	_, err := ValidateProduce(b.Build(), rules(compact))
	bad, ok := err.(*Refusal)
	if !ok || len(bad.Records) != MaxRecordErrors {
		t.Fatalf("%v", err)
	}
	if want := "One or more records have been rejected due to 200000 record errors in total"; len(bad.Message) < len(want) || bad.Message[:len(want)] != want {
		t.Errorf("message %.100q", bad.Message)
	}
}
