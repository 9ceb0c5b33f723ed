package handlers

// places numbers keys in the order in which they first come. A few keys are
// searched one by one, without memory of their own; many get a map, so that a
// request that names a hundred thousand partitions costs no square. The zero
// value is ready.
type places[K comparable] struct {
	keys  []K
	index map[K]int32
}

const fewPlaces = 16

// of gives k's number, and whether k came before.
func (p *places[K]) of(k K) (n int, again bool) {
	if len(p.keys) <= fewPlaces {
		for i := range p.keys {
			if p.keys[i] == k {
				return i, true
			}
		}
	} else if i, ok := p.index[k]; ok {
		return int(i), true
	}
	n = len(p.keys)
	p.keys = append(p.keys, k)
	switch {
	case n == fewPlaces:
		p.index = make(map[K]int32, 4*fewPlaces)
		for i, k := range p.keys {
			p.index[k] = int32(i)
		}
	case n > fewPlaces:
		p.index[k] = int32(n)
	}
	return n, false
}

// reset forgets every key and keeps the memory of a few.
func (p *places[K]) reset() {
	clear(p.keys)
	p.keys, p.index = p.keys[:0], nil
	if cap(p.keys) > 64*fewPlaces {
		p.keys = nil
	}
}

// topicKey names a topic as a request does: by name, or by id.
type topicKey struct {
	name string
	id   [16]byte
}

// partitionKey names a partition: its topic by number of a places.
type partitionKey struct{ topic, partition int32 }

// extend makes s one longer without losing what the new element's slices hold.
func extend[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var zero T
	return append(s, zero)
}
