package operate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Key is an idempotency key of an event.
type Key struct {
	Hash   [16]byte
	Event  string
	Window time.Duration
	// Here says that copies come through one partition: the key is in a ledger, not in the table
	// that partitions share.
	Here bool
	// Headers and Fields are the parts that the key is made of, by their names.
	Headers, Fields map[string]string
}

// Call is what is known of the call of an event with an effect.
type Call struct {
	State     string    `json:"state"` // processing, done, completed, failed or interrupted
	Attempts  int       `json:"attempts"`
	ChangedAt time.Time `json:"changed_at"`
	Error     string    `json:"error"`
}

var callStates = map[byte]string{'p': "processing", 'd': "done", 'c': "completed", 'f': "failed", 'i': "interrupted"}

const (
	callSQL = `SELECT state, attempts, changed_at, coalesce(error, '') FROM idem_lease WHERE consumer = $1 AND key = $2::uuid`

	oldestKeySQL = `SELECT min(opened_at) FROM idem_key_gen WHERE consumer = $1`
)

// FindKey says what became of the event that has the key, in the partitions of a topic, or in one
// of them if that is not negative. Keys in ledgers are found by reading all rows that have keys.
func FindKey(ctx context.Context, db DB, consumer, topic string, partition int32, key Key) (Answer, error) {
	of, err := ledgers(ctx, db, consumer, topic, partition)
	if err != nil {
		return Answer{}, err
	}
	found, err := holders(ctx, db, consumer, of, key)
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
		found, err := refused(ctx, db, &a, of, key)
		if err != nil || found {
			return a, err
		}
		a.Verdict, a.Because, err = unheld(ctx, db, consumer, of, key)
		return a, err
	}
	first := found[0]
	a.Verdict, a.Row, a.Because = Applied, first.Row, first.String()
	if !first.Known {
		a.Because += "; its window is over: a copy that comes now takes effect again"
	}
	for _, h := range found[1:] {
		a.Because += "; " + h.String()
		if first.Known && h.Known {
			a.Because += ", too: copies: same_partition does not hold"
		}
	}
	return a, nil
}

// holders finds the key, the row that was written first at the front. A key of one partition is in
// several where copies came through several: nothing but the producer keeps them together.
func holders(ctx context.Context, db DB, consumer string, of []Status, key Key) (found []*Holder, err error) {
	if !key.Here {
		h, err := inShared(ctx, db, consumer, key.Hash)
		if h != nil {
			found = append(found, h)
		}
		return found, err
	}
	for i := range of {
		if of[i].Tail == nil {
			continue
		}
		h, err := inChain(ctx, db, &of[i], key.Hash, of[i].Tail.Seq+1)
		if err != nil {
			return nil, err
		}
		if h != nil && h.Row != nil {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b *Holder) int { return a.Row.WrittenAt.Compare(b.Row.WrittenAt) })
	return found, nil
}

// unheld is the verdict on a key that is nowhere: since when keys are known tells how far back
// that means anything.
func unheld(ctx context.Context, db DB, consumer string, of []Status, key Key) (Verdict, string, error) {
	since, err := knownSince(ctx, db, consumer, of, key.Here)
	if err != nil || since == nil {
		return NotSeen, "no key of this consumer is known: it has applied no event with a key", err
	}
	return Unknown, "no event with this key was applied since " + since.UTC().Format(time.RFC3339) + "; of earlier ones nothing is known", nil
}

// knownSince is how far back keys are known; nil if none ever was. Of several ledgers the one that
// goes back least tells.
func knownSince(ctx context.Context, db DB, consumer string, of []Status, here bool) (since *time.Time, err error) {
	if !here {
		if ok, err := has(ctx, db, "idem_key_gen"); err != nil || !ok {
			return nil, err
		}
		err := db.QueryRow(ctx, oldestKeySQL, pgx.QueryExecModeExec, consumer).Scan(&since)
		return since, Explain(err)
	}
	for i := range of {
		first, err := firstRow(ctx, db, &of[i])
		if err != nil {
			return nil, err
		}
		if first != nil && (since == nil || first.WrittenAt.After(*since)) {
			since = &first.WrittenAt
		}
	}
	return since, nil
}

// call reads what is known of the key's call; nil if nothing is.
func call(ctx context.Context, db DB, consumer string, key Key) (*Call, error) {
	if ok, err := has(ctx, db, "idem_lease"); err != nil || !ok {
		return nil, err
	}
	var c Call
	var state byte
	err := db.QueryRow(ctx, callSQL, pgx.QueryExecModeExec, consumer, hex.EncodeToString(key.Hash[:])).Scan(&state, &c.Attempts, &c.ChangedAt, &c.Error)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	c.State, c.ChangedAt = callStates[state], c.ChangedAt.UTC()
	return &c, Explain(err)
}

// Match says what became of the record at an offset whose event has the key: of two copies, the
// one that the row of the key does not cover is a duplicate.
func Match(offset int64, partition int32, at, key Answer) Answer {
	if at.Verdict != Covered || key.Row == nil {
		return at
	}
	at.Event, at.Call, at.Key = key.Event, key.Call, key.Key
	if r := key.Row; r.Seq != at.Row.Seq || r.Partition != partition || r.TopicID != at.Row.TopicID {
		at.Verdict = Duplicate
		at.Because = key.Because + ", which is the first copy"
		return at
	}
	if at.Row.To-at.Row.From == 1 {
		at.Verdict, at.Because = Applied, key.Because
		return at
	}
	at.Verdict, at.Because = Applied, fmt.Sprintf("%s; were there two copies among these offsets, %d:%d may be the second", key.Because, partition, offset)
	return at
}
