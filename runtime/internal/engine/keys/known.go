package keys

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Keys that all partitions share are tested in this order, cheapest first:
//
//  1. the owner's own recent keys: they are right because the append names the tail;
//  2. sealed generations, by a filter in memory: a key is read if a filter does not deny it, or
//     if a generation has no filter;
//  3. the open generation: its table admits no key twice, so it is read only while races are
//     often lost there.
//
// Why no key is applied twice, whenever a generation is sealed: two claims in one generation
// meet its primary key. A claim in a later generation was tested against every earlier one after
// their seals committed, and a seal waits for the claims in flight. So the list of generations
// must be read before the tests, and on the claim's connection. The claim is refused unless the
// list's open generation is still open (see [generation.List]).
//
// Nothing that was read from idem_keys is used for another try. After a try that failed, list and
// keys are read again, in all generations: the connection may have led to another server.

// Known is what is known about the keys of one try of a batch. It holds for the transaction
// that follows on the same connection.
type Known struct {
	memory *Memory
	place  Place
	now    time.Time
	prior  map[wire.Key]generation.Hit
	list   generation.List
	open   generation.Generation // where new keys are claimed

	listed            bool              // list was read
	claimed, awaiting map[wire.Key]bool // keys that were tested: to be claimed, and hidden ones
}

// Place is the place of the next row of the chain.
type Place struct {
	Stream int32
	Seq    int64
	Sent   bool // an append was sent there before
}

// Known knows what the memory holds, and will know what is read.
func (m *Memory) Known(p Place) *Known { return &Known{memory: m, place: p, now: time.Now()} }

// Find implements [wire.Known].
func (k *Known) Find(key wire.Key, here bool) (wire.Prior, bool) {
	if here {
		print, def, ok := k.memory.Find(key)
		return wire.Prior{Print: print, Def: def}, ok
	}
	if hit, ok := k.prior[key]; ok {
		return hit.Prior, true
	}
	e, ok := k.memory.recent.Find(key, k.now)
	return wire.Prior{Print: e.Print, Def: e.Def}, ok
}

// ErrMoved says that a row of this stream after the tail claimed a key: an attempt of ours
// committed, or another owner's.
var ErrMoved = errors.New("a row after the tail claimed a key")

// ErrNoGeneration says that keys cannot be claimed: a failover took back the generation that
// was made for this owner.
var ErrNoGeneration = errors.New("no generation of keys is open: a failover undid the creation of this owner's")

// Read reads whether keys were claimed before: those that a decision claims, and the hidden
// ones of records that were refused after their claim, unless they were read already. It reports
// whether one was found that the decision did not know: the next decision knows it.
func (k *Known) Read(ctx context.Context, conn *pgx.Conn, claims []wire.Claim, hidden []wire.Key) (found bool, err error) {
	keys := slices.DeleteFunc(keysOf(claims), func(key wire.Key) bool { return k.claimed[key] || k.awaiting[key] })
	hidden = slices.DeleteFunc(hidden, func(key wire.Key) bool { return k.awaiting[key] })
	if len(keys)+len(hidden) == 0 {
		return false, nil
	}
	if err := k.readList(ctx, conn); err != nil {
		return false, err
	}
	numbers, suspects := k.list.Numbers(), keys
	if !k.place.Sent {
		numbers, suspects = k.memory.process.Filters.Where(k.list, keys, k.memory.pace.Reads())
	}
	found, err = k.readKeys(ctx, conn, numbers, suspects)
	if err == nil && len(hidden) > 0 {
		var more bool
		more, err = k.readHidden(ctx, conn, hidden)
		found = found || more
	}
	if err != nil || !found {
		return false, err
	}
	if !k.place.Sent && k.raced() {
		k.memory.pace.Raced()
	}
	k.claimed, k.awaiting = with(k.claimed, keys), with(k.awaiting, hidden)
	return true, nil
}

// readList reads the list of generations, or takes the one that was read on this connection.
func (k *Known) readList(ctx context.Context, conn *pgx.Conn) error {
	if k.listed {
		return nil
	}
	list, _ := generation.Listed(conn)
	var ok bool
	if _, ok = list.Open(); !ok || k.place.Sent {
		var err error
		if list, err = generation.Read(ctx, conn, k.memory.process.Consumer); err != nil {
			return err
		}
		k.memory.process.Filters.Listed(list)
	}
	if k.open, ok = list.Open(); !ok {
		return ErrNoGeneration
	}
	k.list, k.listed = list, true
	return nil
}

// readHidden reads which of the hidden keys were claimed before. Nothing
// claims these keys. So no claim would be refused because the list of generations is too old, or
// because the open generation holds the key: both are read now.
func (k *Known) readHidden(ctx context.Context, conn *pgx.Conn, keys []wire.Key) (found bool, err error) {
	list, err := generation.Read(ctx, conn, k.memory.process.Consumer)
	if err != nil {
		return false, err
	}
	return k.readKeys(ctx, conn, list.Numbers(), keys)
}

// readKeys reads which keys were claimed before. It reports whether one was.
func (k *Known) readKeys(ctx context.Context, conn *pgx.Conn, numbers []int32, keys []wire.Key) (found bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	if err := fault.At(ctx, fault.BeforeProbe); err != nil {
		return false, err
	}
	hits, err := generation.Known(ctx, conn, numbers, keys)
	if err != nil {
		return false, err
	}
	for _, h := range hits {
		if h.Stream == k.place.Stream && h.Seq >= k.place.Seq {
			return false, ErrMoved
		}
		if k.prior == nil {
			k.prior = map[wire.Key]generation.Hit{}
		}
		k.prior[h.Key] = h
	}
	return len(hits) > 0, nil
}

// raced reports whether a known key was claimed in the open generation.
func (k *Known) raced() bool {
	for _, h := range k.prior {
		if h.Number == k.open.Number {
			return true
		}
	}
	return false
}

// with adds keys to a set.
func with(set map[wire.Key]bool, keys []wire.Key) map[wire.Key]bool {
	if set == nil {
		set = map[wire.Key]bool{}
	}
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// FirstCopy says in which row the first copy of a key is, as far as this owner knows.
func (k *Known) FirstCopy(key wire.Key) string {
	p := k.memory.partition
	if at, ok := k.prior[key]; ok {
		return fmt.Sprintf("in row %d of the ledger of %s", at.Seq, cmp.Or(at.Place, fmt.Sprintf("stream %d", at.Stream)))
	}
	if at, ok := k.memory.recent.Find(key, k.now); ok {
		return fmt.Sprintf("in row %d of the ledger of %s/%d", at.Seq, p.Topic, p.Number)
	}
	if _, _, ok := k.memory.Find(key); ok {
		return fmt.Sprintf("in an earlier batch of %s/%d", p.Topic, p.Number)
	}
	return "in the same batch"
}

// Claim claims the shared keys in sorted order: two batches that claim the same keys wait for
// each other in one direction only.
func (k *Known) Claim(claims []wire.Claim) []pipeline.Statement {
	if len(claims) == 0 {
		return nil
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b wire.Claim) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	var rows wire.Rows
	for i := range claims {
		r := rows.Row()
		r.UUID(wire.UUID(claims[i].Key))
		r.Int4(int32(claims[i].Def))
		r.Int4(int32(claims[i].Print))
	}
	args := [][]byte{ledger.Int4(k.open.Number), k.open.Token[:], ledger.Int4(k.place.Stream), ledger.Int8(k.place.Seq)}
	return []pipeline.Statement{{Is: generation.Claim, Args: rows.Seal(args)}}
}

// Release takes back those claims of this transaction that are not in stay; none if all are.
func (k *Known) Release(claims, stay []wire.Claim) []pipeline.Statement {
	kept := with(nil, keysOf(stay))
	released := slices.DeleteFunc(keysOf(claims), func(key wire.Key) bool { return kept[key] })
	if len(released) == 0 {
		return nil
	}
	var rows wire.Rows
	for _, key := range released {
		rows.Row().UUID(wire.UUID(key))
	}
	args := [][]byte{ledger.Int4(k.open.Number), ledger.Int4(k.place.Stream), ledger.Int8(k.place.Seq)}
	return []pipeline.Statement{{SQL: generation.ReleaseSQL, Args: rows.Seal(args)}}
}

// keysOf are the keys of claims.
func keysOf(claims []wire.Claim) []wire.Key {
	var keys []wire.Key
	for i := range claims {
		keys = append(keys, claims[i].Key)
	}
	return keys
}
