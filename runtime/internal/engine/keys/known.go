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
//  1. the owner's own recent keys: they are correct because the append names the tail;
//  2. sealed generations, with a filter in memory: a key is looked up if a filter does not exclude
//     it, or if a generation has no filter;
//  3. the open generation: its table rejects a key that it already has, so it is read first only
//     while races are often lost there.
//
// Why no key is applied twice, whenever a generation is sealed: of two claims in one generation,
// its primary key rejects one. A claim in a later generation was tested against every earlier one
// after their seals committed, and a seal waits for the claims in flight. So the list of
// generations must be read before the tests, and on the claim's connection. The claim fails unless
// the list's open generation is still open (see [generation.List]).
//
// Nothing that was read from idem_keys is used for another attempt. After a failed attempt, the
// list and the keys are read again, in all generations: the connection may have led to another
// server.

// Known is what is known about the keys in one attempt of a batch. It is valid for the transaction
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

// Place is the position of the next row in the chain.
type Place struct {
	Stream int32
	Seq    int64
	Sent   bool // an append was sent there before
}

// Known returns a Known with the keys of the memory, to which Read adds.
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

// ErrMoved means that a row of this stream after the tail claimed a key: an attempt of ours
// committed, or one of another owner.
var ErrMoved = errors.New("a row after the tail claimed a key")

// ErrNoGeneration means that keys cannot be claimed: a failover undid the creation of this owner's
// generation.
var ErrNoGeneration = errors.New("no generation of keys is open: a failover undid the creation of this owner's")

// Read looks up which keys were claimed before: those that a decision claims, and the hidden ones
// of records that were rejected after their claim, except those already looked up. It reports
// whether it found a key that the decision did not know; the next decision will know it.
func (k *Known) Read(ctx context.Context, conn *pgx.Conn, claims []wire.Claim, hidden []wire.Key) (found bool, err error) {
	keys := slices.DeleteFunc(keysOf(claims), func(key wire.Key) bool { return k.claimed[key] || k.awaiting[key] })
	hidden = slices.DeleteFunc(hidden, func(key wire.Key) bool { return k.awaiting[key] })
	if len(keys)+len(hidden) == 0 {
		return false, nil
	}
	if err := k.readList(ctx, conn); err != nil {
		return false, err
	}
	if err := k.memory.process.Filters.Lost(k.list); err != nil {
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

// readList reads the list of generations, or uses the one that was read on this connection.
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
	if err := list.Fits(); err != nil {
		return err
	}
	k.list, k.listed = list, true
	return nil
}

// readHidden looks up which of the hidden keys were claimed before. No statement claims these
// keys, so none would fail because the list of generations is outdated, or because the open
// generation has the key. Therefore both are read now.
func (k *Known) readHidden(ctx context.Context, conn *pgx.Conn, keys []wire.Key) (found bool, err error) {
	list, err := generation.Read(ctx, conn, k.memory.process.Consumer)
	if err != nil {
		return false, err
	}
	return k.readKeys(ctx, conn, list.Numbers(), keys)
}

// readKeys looks up which keys were claimed before, and reports whether one was.
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

// FirstCopy describes which row applied the event with a key first, as far as this owner knows.
func (k *Known) FirstCopy(key wire.Key) string {
	p := k.memory.partition
	if at, ok := k.prior[key]; ok && at.Stream == 0 {
		return "in another program, whose key was adopted"
	} else if ok {
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

// Claim claims the shared keys in sorted order, so two batches that claim the same keys cannot
// deadlock.
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

// Release undoes the claims of this transaction that are not in stay.
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

// keysOf returns the keys of claims.
func keysOf(claims []wire.Claim) []wire.Key {
	var keys []wire.Key
	for i := range claims {
		keys = append(keys, claims[i].Key)
	}
	return keys
}
