package idem

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/internal/recent"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Keys that all partitions share are tested in this order, cheapest first:
//
//  1. the owner's own recent keys: true because the append names the row they hang on;
//  2. sealed generations, by a filter in memory; what a filter does not deny, or has none,
//     is read;
//  3. the open generation: its table admits no key twice, so it is read only while losing
//     that race is frequent.
//
// Why no key is applied twice, whenever a generation is sealed: two claims in one generation
// meet its primary key. A claim in a later one was tested against every earlier one after
// their seals committed, and a seal waits for the claims in flight. For that the list of
// generations must be older than the tests and as old as the claim's token: it is read on
// this very connection, before the tests, and the claim is refused unless the list's open
// generation is open still (see [generation.List]). Nothing read from idem_keys outlives
// the try it was read for, and after a try that failed, whatever the reason, list and keys
// are read again, in all generations: its connection may have led to another server.

// recentKeys is how many of its own keys an owner remembers, in 590 kB: what a producer sends
// again is near.
const recentKeys = 1 << 14

// filterBytes is the memory of all filters of a consumer: enough for 100 million keys.
const filterBytes = 256 << 20

// known is what is known about the keys of one try of a batch, and about the tables that it
// writes. It holds for the transaction that follows on the same connection.
type known struct {
	owner *owner
	apart *surveyed
	now   time.Time
	prior map[Key]generation.Hit
	open  generation.Generation // where new keys are claimed
}

// find looks up a key that all partitions share.
func (k *known) find(key Key) (wire.Prior, bool) {
	if hit, ok := k.prior[key]; ok {
		return hit.Prior, true
	}
	e, ok := k.owner.recent.Find(key, k.now)
	return wire.Prior{Print: e.Print, Def: e.Def}, ok
}

// errOwnKey says that this stream claimed a key behind our tail: an attempt of ours
// committed, or another owner's.
var errOwnKey = errors.New("a row behind the tail claimed a key")

// look tests the keys that w claims, and those that decide about its conflicts, and builds it
// again until none is known. stop is why w cannot be sent, if nothing that is found changes it.
func (o *owner) look(ctx context.Context, conn *pgxpool.Conn, w *work, stop error) (*work, error) {
	keys, hidden := keysOf(w.claims), w.hidden
	if len(keys)+len(hidden) == 0 {
		return w, stop
	}
	again := o.tried
	list, _ := generation.Listed(conn.Conn())
	var ok bool
	if _, ok = list.Open(); !ok || again {
		var err error
		if list, err = generation.Read(ctx, conn.Conn(), o.c.service.Consumer); err != nil {
			return w, err
		}
		o.c.filters.Listed(list)
	}
	k := w.known
	if k.open, ok = list.Open(); !ok {
		return w, o.fenced(protocol.Gone, "no generation of keys is open: a failover took back the one that was made for this owner")
	}
	claimed, decided := map[Key]bool{}, map[Key]bool{} // tested as such
	for len(keys)+len(hidden) > 0 {
		numbers, suspects := list.Numbers(), keys
		if !again {
			numbers, suspects = o.c.filters.Where(list, keys, o.pace.Reads())
		}
		found, err := o.readKnown(ctx, conn, k, numbers, suspects)
		if err == nil && len(hidden) > 0 {
			var more bool
			more, err = o.readHidden(ctx, conn, k, hidden)
			found = found || more
		}
		switch {
		case err != nil:
			return w, err
		case !found:
			return w, stop
		case !again && k.raced():
			o.pace.Raced()
		}
		// Some are known. What is built without them may claim keys that a conflict hid before.
		note(claimed, keys)
		note(decided, hidden)
		w, stop = o.build(w.records, k)
		keys = slices.DeleteFunc(keysOf(w.claims), func(key Key) bool { return claimed[key] || decided[key] })
		hidden = slices.DeleteFunc(w.hidden, func(key Key) bool { return decided[key] })
	}
	return w, stop
}

// readHidden reads which of the keys were claimed before that decide about conflicts. Nothing
// claims them, so nothing would refuse a list of generations that is too old, or what stands
// in the open one.
func (o *owner) readHidden(ctx context.Context, conn *pgxpool.Conn, k *known, keys []Key) (found bool, err error) {
	list, err := generation.Read(ctx, conn.Conn(), o.c.service.Consumer)
	if err != nil {
		return false, err
	}
	return o.readKnown(ctx, conn, k, list.Numbers(), keys)
}

// note adds keys to those that were tested.
func note(tested map[Key]bool, keys []Key) {
	for _, key := range keys {
		tested[key] = true
	}
}

// readKnown reads which keys were claimed before. It reports whether one was.
func (o *owner) readKnown(ctx context.Context, conn *pgxpool.Conn, k *known, numbers []int32, keys []Key) (found bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	if err := fault.At(ctx, fault.BeforeProbe); err != nil {
		return false, err
	}
	hits, err := generation.Known(ctx, conn.Conn(), numbers, keys)
	if err != nil {
		return false, err
	}
	for _, h := range hits {
		if h.Stream == o.stream && h.Seq > o.tail.Seq {
			return false, errOwnKey
		}
		if k.prior == nil {
			k.prior = map[Key]generation.Hit{}
		}
		k.prior[h.Key] = h
	}
	return len(hits) > 0, nil
}

// raced reports whether a known key was claimed in the open generation.
func (k *known) raced() bool {
	for _, h := range k.prior {
		if h.Number == k.open.Number {
			return true
		}
	}
	return false
}

// keysOf are the keys of claims.
func keysOf(claims []wire.Claim) []Key {
	var keys []Key
	for i := range claims {
		keys = append(keys, claims[i].Key)
	}
	return keys
}

// recall keeps the shared keys of a row that stands: only then, and no longer than the
// owner's other memory.
func (o *owner) recall(claims []wire.Claim) {
	now := time.Now()
	for i := range claims {
		o.recent.Add(claims[i].Key, recent.Entry{Def: claims[i].Def, Print: claims[i].Print, Seq: o.tail.Seq}, now)
	}
}

// race keeps the account of batches that lost a key to another: it tells whether reading
// the open generation first is worth its time.
func (o *owner) race(err error) {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" {
		o.pace.Raced()
	}
	o.c.stats.keyRaces.Add(1)
}

// claimStatements claims the shared keys in sorted order: two batches that claim the same
// keys wait for each other in one direction only.
func (o *owner) claimStatements(w *work) []statement {
	if len(w.claims) == 0 {
		return nil
	}
	claims := slices.Clone(w.claims)
	slices.SortFunc(claims, func(a, b wire.Claim) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	var rows wire.Rows
	for i := range claims {
		r := rows.Row()
		r.UUID(UUID(claims[i].Key))
		r.Int4(int32(claims[i].Def))
		r.Int4(int32(claims[i].Print))
	}
	open := w.known.open
	args := [][]byte{ledger.Int4(open.Number), open.Token[:], ledger.Int4(o.stream), ledger.Int8(o.tail.Seq + 1)}
	return []statement{{is: generation.Claim, args: rows.Seal(args)}}
}

// logDuplicate tells at Debug where the first copy of a duplicate stands.
func (o *owner) logDuplicate(m *Message, known *known) {
	if !o.c.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	o.c.log.Debug("duplicate", "topic", o.id.Topic, "partition", o.id.Number, "offset", m.Offset, "first", o.firstCopy(o.batch.Duplicate(), known))
}

// firstCopy says where the first copy of a key stands, as far as this owner knows.
func (o *owner) firstCopy(key Key, known *known) string {
	if at, ok := known.prior[key]; ok {
		return fmt.Sprintf("in row %d of the ledger of %s", at.Seq, cmp.Or(at.Place, fmt.Sprintf("stream %d", at.Stream)))
	}
	if at, ok := o.recent.Find(key, known.now); ok {
		return fmt.Sprintf("in row %d of the ledger of %s/%d", at.Seq, o.id.Topic, o.id.Number)
	}
	if o.inChain(key) {
		return fmt.Sprintf("in an earlier batch of %s/%d", o.id.Topic, o.id.Number)
	}
	return "in the same batch"
}
