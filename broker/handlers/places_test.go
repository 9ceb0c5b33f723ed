package handlers

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPlacesNumberKeysAsTheyFirstCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var p places[int]
		for range 2 {
			want := map[int]int{}
			for _, k := range rapid.SliceOf(rapid.IntRange(0, 50)).Draw(rt, "keys") {
				n, again := p.of(k)
				old, known := want[k]
				if again != known || known && n != old || !known && n != len(want) {
					rt.Fatalf("key %d: number %d, again %v; want %d, %v", k, n, again, old, known)
				}
				want[k] = n
			}
			p.reset()
		}
	})
}
