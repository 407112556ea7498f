package operate

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/record"
)

// Call is the state of the call of an event's effect.
type Call struct {
	State     string    `json:"state"` // processing, done, completed, failed or interrupted
	Attempts  int       `json:"attempts"`
	ChangedAt time.Time `json:"changed_at"`
	Error     string    `json:"error"`
}

var callStates = map[byte]string{'p': "processing", 'd': "done", 'c': "completed", 'f': "failed", 'i': "interrupted"}

const callSQL = `SELECT state, attempts, changed_at, coalesce(error, '') FROM idem_lease WHERE consumer = $1 AND key = $2::uuid`

// FindKey returns the outcome of the event with the key, in all partitions of a topic, or in one
// of them if partition is not negative. Keys in ledgers are found by reading all rows that have
// keys. Dead letters are searched for a limited time: if that was not enough, Because says so.
func FindKey(ctx context.Context, db DB, consumer, topic string, partition int32, key record.EventKey) (Answer, error) {
	of, err := named(ctx, db, Name{Consumer: consumer, Topic: topic, Partition: partition})
	if err != nil {
		return Answer{}, err
	}
	var streams []int32
	for _, s := range of {
		if !s.Former {
			streams = append(streams, s.Stream)
		}
	}
	var found []*Holder
	if key.Here {
		found, err = inChains(ctx, db, streams, key.Hash, math.MaxInt64)
	} else {
		found, err = inShared(ctx, db, consumer, key.Hash)
	}
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Event: key.Event}
	if a.Call, err = call(ctx, db, consumer, key); err != nil {
		return Answer{}, err
	}
	if a.Call != nil {
		a.Key = hex.EncodeToString(key.Hash[:])
	}
	if len(found) == 0 {
		l, unread, err := refused(ctx, db, streams, key)
		if err == nil && l != nil {
			a.refused(l)
		} else if err == nil {
			a.Verdict, a.Because, err = unheld(ctx, db, consumer, streams, key)
			a.Because += unread
		}
		return a, err
	}
	first := found[0]
	a.Verdict, a.Row, a.Because = Applied, first.Row, first.String()
	if !first.Known {
		a.Because += "; its window has passed: a duplicate that arrives now takes effect again"
	}
	for _, h := range found[1:] {
		a.Because += "; " + h.String()
		if first.Known && h.Known {
			a.Because += ", too: copies: same_partition does not hold"
		}
	}
	return a, nil
}

// unheld returns the verdict on a key that was not found, with the time since when keys are known:
// before that, the verdict says nothing. Of several ledgers, the one with the shortest history
// counts.
func unheld(ctx context.Context, db DB, consumer string, streams []int32, key record.EventKey) (Verdict, string, error) {
	table, sql, of := "idem_key_gen", `SELECT min(opened_at) FROM idem_key_gen WHERE consumer = $1`, any(consumer)
	if key.Here {
		table, of = "idem_ledger", streams
		sql = `SELECT max(written_at) FROM unnest($1::int[]) AS s (stream),
			LATERAL (SELECT written_at FROM idem_ledger l WHERE l.stream = s.stream ORDER BY seq LIMIT 1) AS first`
	}
	var since *time.Time
	there, err := has(ctx, db, table)
	if there {
		_, err = one(ctx, db, []any{&since}, sql, of)
	}
	if err != nil || since == nil {
		return NotSeen, "no key of this consumer is known: it has applied no event with a key", err
	}
	return Unknown, "no event with this key was applied since " + since.UTC().Format(time.RFC3339) + "; earlier events are not known", nil
}

// call reads the state of the key's call; nil if there is none.
func call(ctx context.Context, db DB, consumer string, key record.EventKey) (*Call, error) {
	if ok, err := has(ctx, db, "idem_lease"); err != nil || !ok {
		return nil, err
	}
	var c Call
	var state byte
	found, err := one(ctx, db, []any{&state, &c.Attempts, &c.ChangedAt, &c.Error}, callSQL, consumer, hex.EncodeToString(key.Hash[:]))
	if !found {
		return nil, err
	}
	c.State, c.ChangedAt = callStates[state], c.ChangedAt.UTC()
	return &c, nil
}

// match returns the outcome of the record at a place whose event has the key: if the row of the
// key does not cover the place, the record is a duplicate.
func match(place *Place, at, key Answer) Answer {
	if at.Verdict != Covered || key.Row == nil {
		return at
	}
	at.Event, at.Call, at.Key = key.Event, key.Call, key.Key
	if r := key.Row; r.Seq != at.Row.Seq || r.Partition != place.Partition || r.TopicID != at.Row.TopicID {
		at.Verdict = Duplicate
		at.Because = key.Because + ", which is the first copy"
		return at
	}
	if at.Row.To-at.Row.From == 1 {
		at.Verdict, at.Because = Applied, key.Because
		return at
	}
	at.Verdict, at.Because = Applied, fmt.Sprintf("%s; if these offsets contain two copies, %d:%d may be the second", key.Because, place.Partition, place.Offset)
	return at
}

// Find returns the outcome of the record at a place, or of the event with one of several keys, in
// the partitions of a topic that n names. With both, it distinguishes the record from its
// duplicates. If several events may have the key, it leaves out those that were not applied, if
// one was.
func Find(ctx context.Context, db DB, n Name, at *Place, keys []record.EventKey) (found []Answer, err error) {
	for _, k := range keys {
		a, err := FindKey(ctx, db, n.Consumer, n.Topic, n.Partition, k)
		if err != nil {
			return nil, err
		}
		same := func(f Answer) bool { return a.Letter != nil && f.Letter != nil && f.Letter.Place == a.Letter.Place }
		if !slices.ContainsFunc(found, same) {
			found = append(found, a)
		}
	}
	if at != nil {
		a, err := FindOffset(ctx, db, Name{n.Consumer, n.Topic, at.Partition, ""}, at.Offset)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(found, func(f Answer) bool { return f.Row != nil }); i >= 0 {
			a = match(at, a, found[i])
		}
		return []Answer{a}, nil
	}
	held := slices.DeleteFunc(slices.Clone(found), func(a Answer) bool { return a.Verdict == NotSeen || a.Verdict == Unknown })
	if len(held) == 0 {
		held = found[:1]
	}
	return held, nil
}

// Holder is the row of a ledger whose transaction applied the event of a key; or no row, if
// another program had applied it and the key was adopted.
type Holder struct {
	Name
	Seq   int64 `json:"seq"`
	Known bool  `json:"known"` // inside the window: a copy that comes now is a duplicate
	Row   *Row  `json:"row"`   // nil if the row was removed since

	stream int32
}

// String describes where the key is.
func (h *Holder) String() string {
	if h.stream == 0 {
		return "another program had applied it: its key was adopted"
	}
	if h.Row == nil {
		return fmt.Sprintf("ledger row %d of %s/%d applied it; the row was removed since", h.Seq, h.Topic, h.Partition)
	}
	r, how := h.Row, h.Row.Span()
	return fmt.Sprintf("ledger row %d of %s/%d applied it: %s, at %s, in transaction %s",
		r.Seq, r.Topic, r.Partition, how, r.WrittenAt.Format(time.RFC3339), r.Transaction)
}

const (
	sharedKeySQL = `
SELECT k.stream, g.consumer, coalesce(s.topic, ''), coalesce(s.topic_id::text, ''), coalesce(s.partition, -1), k.seq, true
FROM idem_keys k JOIN idem_key_gen g USING (gen) LEFT JOIN idem_stream s ON s.stream = k.stream
WHERE k.key = $2::uuid AND g.consumer = $1 AND (k.stream = 0 OR s.stream IS NOT NULL)`

	// chainKeySQL is the newest row of each of some ledgers that holds a key, the row that was
	// written first at the front. It reads the keys of all newer rows. The bytes of a key may also
	// be found across two keys.
	chainKeySQL = `
SELECT s.stream, s.consumer, s.topic, s.topic_id::text, s.partition, l.seq,
       l.seq >= (SELECT window_seq FROM idem_ledger t WHERE t.stream = s.stream ORDER BY t.seq DESC LIMIT 1)
FROM idem_stream s, LATERAL (
    SELECT seq, written_at FROM idem_ledger WHERE stream = s.stream AND seq <= $3::bigint AND keys IS NOT NULL AND position($2::bytea IN keys) > 0
      AND EXISTS (SELECT FROM generate_series(1, octet_length(keys), 20) AS at WHERE substring(keys FROM at FOR 16) = $2::bytea)
    ORDER BY seq DESC LIMIT 1) AS l
WHERE s.stream = ANY($1::int[]) ORDER BY l.written_at`
)

// inShared looks for a key among those that all partitions of a consumer share.
func inShared(ctx context.Context, db DB, consumer string, key [16]byte) ([]*Holder, error) {
	if ok, err := has(ctx, db, "idem_keys"); err != nil || !ok {
		return nil, err
	}
	return holders(ctx, db, sharedKeySQL, consumer, hex.EncodeToString(key[:]))
}

// inChains looks for a key in the rows of several ledgers. With copies: same_partition a key may
// be in several ledgers if duplicates arrived in several partitions: only the producer prevents
// that.
func inChains(ctx context.Context, db DB, streams []int32, key [16]byte, last int64) ([]*Holder, error) {
	return holders(ctx, db, chainKeySQL, streams, key[:], last)
}

func holders(ctx context.Context, db DB, sql string, args ...any) ([]*Holder, error) {
	all, err := query(ctx, db, func(row pgx.CollectableRow) (*Holder, error) {
		h := new(Holder)
		return h, row.Scan(&h.stream, &h.Consumer, &h.Topic, &h.TopicID, &h.Partition, &h.Seq, &h.Known)
	}, sql, args...)
	for _, h := range all {
		if err == nil {
			h.Row, err = readRow(ctx, db, rowSQL, h.stream, h.Seq)
		}
	}
	return all, err
}
