package deadletter

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Parked are the parked record keys, and how many records wait behind each. Like position and
// keys, it is a function of the chain up to a row. It is loaded after the owner's fence, and
// changes only with the owner's rows.
type Parked struct {
	keys    map[wire.UUID]Queue
	waiting int
}

// Queue counts the open letters of one record key.
type Queue struct {
	Dead, Waiting int
}

// Move is what a row of the chain changes in a queue.
type Move struct {
	Key           wire.UUID // hash of the record key
	Dead, Waiting int       // change of the counts
}

const parkedSQL = `
SELECT order_key, count(*) FILTER (WHERE state = 'd'), count(*) FILTER (WHERE state = 'w')
FROM idem_dead_letter WHERE stream = $1 AND state IN ('d', 'w') AND parks GROUP BY order_key`

// Load reads the letters of a stream behind which records are parked.
func (p *Parked) Load(ctx context.Context, db Querier, stream int32) error {
	*p = Parked{}
	rows, err := db.Query(ctx, parkedSQL, stream)
	if err != nil {
		return err
	}
	var key wire.UUID
	var q Queue
	_, err = pgx.ForEachRow(rows, []any{&key, &q.Dead, &q.Waiting}, func() error {
		p.move(Move{key, q.Dead, q.Waiting})
		return nil
	})
	return err
}

// Forward moves the memory forward with a row of the owner.
func (p *Parked) Forward(moves []Move) {
	for _, m := range moves {
		p.move(m)
	}
}

func (p *Parked) move(m Move) {
	q := p.keys[m.Key].Moved(m)
	p.waiting += m.Waiting
	if p.keys == nil {
		p.keys = map[wire.UUID]Queue{}
	}
	if p.keys[m.Key] = q; q.Empty() {
		delete(p.keys, m.Key)
	}
}

// Moved returns the queue after a move.
func (q Queue) Moved(m Move) Queue {
	q.Dead, q.Waiting = q.Dead+m.Dead, q.Waiting+m.Waiting
	return q
}

// Empty reports whether no record is parked, and none must be.
func (q Queue) Empty() bool { return q.Dead+q.Waiting <= 0 }

// None reports whether no record key is parked.
func (p *Parked) None() bool { return p == nil || len(p.keys) == 0 }

// Find finds the queue of a record key.
func (p *Parked) Find(key wire.UUID) (Queue, bool) {
	q, ok := p.keys[key]
	return q, ok
}

// Free returns record keys whose parked records may be applied, because they no longer have a dead
// letter. It returns a limited number, without those that are held.
func (p *Parked) Free(most int, held func(wire.UUID) bool) (keys []wire.UUID) {
	for key, q := range p.keys {
		if q.Dead == 0 && len(keys) < most && !held(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Len returns how many record keys are parked, and how many records wait.
func (p *Parked) Len() (keys, waiting int) { return len(p.keys), p.waiting }

// Moves returns the changes that the letter makes with the row that covers its record.
func (l *Letter) Moves() []Move {
	if !l.parks() {
		return nil
	}
	m := Move{Key: *OrderKey(l.Message), Dead: 1}
	if l.Waits {
		m.Dead, m.Waiting = 0, 1
	}
	return []Move{m}
}

// Moves returns the changes that settling a letter makes.
func (s *Settling) Moves() []Move {
	l := s.Letter
	if !l.Parks || l.OrderKey == nil {
		return nil
	}
	m := Move{Key: *l.OrderKey}
	count := func(state byte, n int) {
		switch state {
		case Dead:
			m.Dead += n
		case Waiting:
			m.Waiting += n
		}
	}
	count(l.State, -1)
	count(s.State, 1)
	return []Move{m}
}
