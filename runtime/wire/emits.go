package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// Emits makes the ids of what one event sends: of its key, the name of the event that is sent,
// and how many of that name came before. So a second try, and a second process, make the same
// ones. An event without a key counts by its place in Kafka and by its timestamp: a topic that was
// made anew has others.
type Emits struct {
	mu     sync.Mutex
	seed   [sha256.Size]byte
	counts []emitted
}

type emitted struct {
	name string
	n    uint32
}

type emitsKey struct{}

// EmitsKey is the key under which the context of Go code has its [Emits].
func EmitsKey() any { return emitsKey{} }

// Begin starts with an event. By says who emits: "step", "handle" or "effect", which count apart.
func (e *Emits) Begin(by string, key Key, m *Message) {
	b := append(make([]byte, 0, 128), "idemgen outbox "...)
	b = append(append(b, by...), 0)
	if key != (Key{}) {
		b = append(b, key[:]...)
	} else {
		b = append(append(b, m.Topic...), 0)
		b = binary.BigEndian.AppendUint32(b, uint32(m.Partition))
		b = binary.BigEndian.AppendUint64(b, uint64(m.Offset))
		b = binary.BigEndian.AppendUint64(b, uint64(m.Time.UnixMicro()))
	}
	e.seed, e.counts = sha256.Sum256(b), e.counts[:0]
}

// next is the id of the next event of a name.
func (e *Emits) next(name string) UUID {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := uint32(0)
	for i := range e.counts {
		if e.counts[i].name == name {
			e.counts[i].n++
			n = e.counts[i].n
		}
	}
	if n == 0 {
		n = 1
		e.counts = append(e.counts, emitted{name, n})
	}
	b := append(make([]byte, 0, 128), e.seed[:]...)
	b = append(append(b, name...), 0)
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, n))
	u := UUID(sum[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // version 8: as its maker likes
	return u
}
