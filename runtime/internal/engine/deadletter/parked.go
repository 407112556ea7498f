package deadletter

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
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

// A letter is kept from the time of the process ($15) on if the database's clock is behind that,
// as keys are (ledger.AppendSQL).
const insertSQL = `
INSERT INTO idem_dead_letter (stream, offs, seq, state, parks, event, reason, sqlstate, order_key, key, result, response, version, record, created_at, expires_at)
SELECT $1::int, offs, $2::bigint, CASE WHEN waits THEN 'w'::"char" ELSE 'd' END, parks, event, reason, sqlstate, order_key, key, result, response, $16::text, record, at, at + nullif(keep, 0) * interval '1 microsecond'
FROM (SELECT CASE WHEN $15::timestamptz > clock_timestamp() + ` + ledger.ToleranceSQL + ` THEN $15 ELSE clock_timestamp() END AS at OFFSET 0) AS now,
    unnest($3::bigint[], $4::boolean[], $5::boolean[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::uuid[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bigint[])
    AS d (offs, waits, parks, event, reason, sqlstate, order_key, key, result, response, record, keep)`

// version is that of this program.
var version = []byte(process.Version())

// Insert inserts dead letters.
var Insert = session.NewStatement("dead_letter", insertSQL)

// Statements returns the statements that insert letters with the row of a stream's chain; none if
// there are no letters. at is the time of the process.
func Statements(stream int32, seq int64, at time.Time, letters []Letter) []pipeline.Statement {
	if len(letters) == 0 {
		return nil
	}
	args := append([][]byte{ledger.Int4(stream), ledger.Int8(seq)}, rows(letters)...)
	args = append(args, ledger.Timestamp(at), version)
	return []pipeline.Statement{{Is: Insert, Args: args}}
}

// mostKept is the length in bytes up to which a letter keeps a value. A longer value stays in
// Kafka, at the letter's offset.
const mostKept = 16 << 20

// kept returns the part of a result that is kept.
func kept(returned []byte, drop bool) []byte {
	if drop && returned != nil {
		return []byte{}
	}
	return returned
}

// bytea adds bytes; nil is NULL.
func bytea(r *wire.Rows, b []byte) {
	if b == nil {
		r.Null(r.Bytea)
		return
	}
	r.Bytea(b)
}

// rows are the last parameters of insertSQL, in order.
func rows(letters []Letter) [][]byte {
	var rows wire.Rows
	for i := range letters {
		l := &letters[i]
		r := rows.Row()
		r.Int8(l.Message.Offset)
		r.Bool(l.Waits)
		r.Bool(l.parks())
		wire.OrNull(r, r.Text, l.eventName())
		r.Text(l.Reason)
		wire.OrNull(r, r.Text, l.SQLState)
		wire.OrNull(r, r.UUID, OrderKey(l.Message))
		wire.OrNull(r, r.UUID, l.Key)
		drop := (l.Policy.Drop || len(l.Message.Value) > mostKept) && !l.Waits
		bytea(r, kept(l.Returned, drop))
		if drop {
			r.Null(r.Bytea)
		} else {
			bytea(r, l.Response)
		}
		if drop {
			r.Null(r.Bytea)
		} else {
			r.Bytea(record.Append(nil, l.Message))
		}
		r.Int8(l.Policy.Keep.Microseconds())
	}
	return rows.Seal(nil)
}

// OrderKey returns the hash of a record's key; nil if the record has none.
func OrderKey(m *wire.Message) *wire.UUID {
	if m.Key == nil {
		return nil
	}
	key := record.OrderKey(m.Key)
	return &key
}
