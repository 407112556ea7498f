package generation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/bloom"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Filters are filters in memory of the keys in sealed generations. Each is named by the
// generation's seal: after a failover that undid the seal, the name no longer exists, and the
// filter is dropped. Filters are built in the background; without a filter, keys of a generation
// are looked up in the database. Filters is safe for concurrent use.
type Filters struct {
	consumer string
	limit    int64 // bytes of all filters
	connect  func(context.Context) (*pgx.Conn, error)
	log      *slog.Logger

	mu        sync.RWMutex
	ready     map[wire.UUID]*bloom.Filter
	wanted    map[wire.UUID]int32 // sealed generations of the last list read
	refused   map[wire.UUID]bool  // those whose filter would exceed the limit
	lost      map[wire.UUID]error // those that have lost keys: a [LostError]
	bytes     int64               // of those that are ready
	forgotten int                 // calls of Forget
	cancel    context.CancelFunc  // of the builder; nil while it is not running
	closed    bool                // no builder starts
	builder   sync.WaitGroup

	counting chan struct{} // holds one element while [Filters.Recount] counts
}

// NewFilters returns the filters of a consumer, empty at first. connect opens a connection for
// building filters, without statement_timeout, because a sealed generation is read as a whole.
func NewFilters(consumer string, limit int64, connect func(context.Context) (*pgx.Conn, error), log *slog.Logger) *Filters {
	return &Filters{
		consumer: consumer, limit: limit, connect: connect, log: log,
		ready: map[wire.UUID]*bloom.Filter{}, refused: map[wire.UUID]bool{}, lost: map[wire.UUID]error{}, counting: make(chan struct{}, 1),
	}
}

// Forget drops all filters, and builds them again: the database lost commits, and so may have lost
// keys of sealed generations.
func (f *Filters) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgotten++
	f.bytes = 0
	clear(f.ready)
	f.start()
}

// Listed handles a list that was just read: filters of generations that are not in it are dropped,
// and missing ones are built.
func (f *Filters) Listed(l List) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = l.sealed()
	for name, filter := range f.ready {
		if _, ok := f.wanted[name]; !ok {
			f.bytes -= filter.Size()
			delete(f.ready, name)
		}
	}
	maps.DeleteFunc(f.refused, func(name wire.UUID, _ bool) bool { _, ok := f.wanted[name]; return !ok })
	maps.DeleteFunc(f.lost, func(name wire.UUID, _ error) bool { _, ok := f.wanted[name]; return !ok })
	f.start()
}

// start starts the builder if a filter is missing. The lock must be held.
func (f *Filters) start() {
	if _, _, ok := f.missing(); ok && f.cancel == nil && !f.closed {
		ctx, cancel := context.WithCancel(context.Background())
		f.cancel = cancel
		f.builder.Go(func() { f.build(ctx) })
	}
}

// Lost returns a [LostError] if a generation of a list is known to have lost keys: nothing may be
// claimed until an operator has acted.
func (f *Filters) Lost(l List) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, g := range l {
		if name, sealed := g.name(); sealed && f.lost[name] != nil {
			return f.lost[name]
		}
	}
	return nil
}

// Recount reads the generations again that had lost keys. It returns nil if all are whole now.
func (f *Filters) Recount(ctx context.Context) error {
	select {
	case f.counting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.counting }()
	f.mu.RLock()
	again := map[wire.UUID]int32{}
	for name := range f.lost {
		again[name] = f.wanted[name]
	}
	f.mu.RUnlock()
	for name, number := range again {
		if err := f.buildOne(ctx, name, number); err != nil {
			return err
		}
	}
	return nil
}

// Open lets the builder start again after Close.
func (f *Filters) Open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = false
}

// Close stops the builder. Finished filters stay in use.
func (f *Filters) Close() {
	f.mu.Lock()
	f.closed = true
	if f.cancel != nil {
		f.cancel()
	}
	f.mu.Unlock()
	f.builder.Wait()
}

// Where returns in which sealed generations of a list which keys must be looked up before they are
// claimed: none if the filters exclude every key. Whether the open generation is also read is the
// caller's choice, because its table rejects a key that it already has.
func (f *Filters) Where(l List, keys []wire.Key, open bool) (numbers []int32, suspects []wire.Key) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	all := false
	found := map[wire.Key]struct{}{}
	for _, g := range l {
		if g.Open && !open {
			continue
		}
		name, sealed := g.name()
		filter := f.ready[name]
		if !sealed || filter == nil {
			all = true
			numbers = append(numbers, g.Number)
			continue
		}
		hit := false
		for _, k := range keys {
			if filter.Has(k) {
				found[k], hit = struct{}{}, true
			}
		}
		if hit {
			numbers = append(numbers, g.Number)
		}
	}
	if all {
		return numbers, keys
	}
	return numbers, slices.Collect(maps.Keys(found))
}

// missing returns a sealed generation that has no filter yet.
func (f *Filters) missing() (name wire.UUID, number int32, ok bool) {
	for n, g := range f.wanted {
		if f.ready[n] == nil && !f.refused[n] && f.lost[n] == nil && g > number {
			name, number, ok = n, g, true
		}
	}
	return name, number, ok
}

// retryBuild is the pause after a failed attempt to build a filter.
const retryBuild = 10 * time.Second

// build builds missing filters, one after another, and ends when none is missing.
func (f *Filters) build(ctx context.Context) {
	for {
		f.mu.Lock()
		name, number, ok := f.missing()
		if !ok || ctx.Err() != nil {
			f.cancel()
			f.cancel = nil
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		err := f.buildOne(ctx, name, number)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if _, lost := errors.AsType[*LostError](err); lost {
			f.log.Error("no key is claimed until an operator has acted", "err", err)
			continue
		}
		f.log.Warn("a filter of sealed keys could not be built: keys are looked up in the database instead", "generation", number, "err", err)
		backoff.Sleep(ctx, retryBuild)
	}
}

// buildOne reads a sealed generation into a filter. The list is read again on the same
// connection: only a server that has the seal has the generation's last keys.
func (f *Filters) buildOne(ctx context.Context, name wire.UUID, number int32) error {
	f.mu.RLock()
	forgotten := f.forgotten
	f.mu.RUnlock()
	conn, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := session.Of(conn.PgConn()).Prepare(ctx, conn.PgConn(), []session.Statement{list}); err != nil {
		return err
	}
	l, err := Read(ctx, conn, f.consumer)
	if err != nil {
		return err
	}
	if l.sealed()[name] != number {
		f.Listed(l) // it was dropped, or its seal was undone
		return nil
	}
	count, err := whole(ctx, conn, number, name)
	f.note(name, err)
	if err != nil {
		return err
	}
	if !f.room(name, number, count) {
		return nil
	}
	filter := bloom.New(count)
	if err := fill(ctx, conn, filter, number, count); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wanted[name] == number && f.ready[name] == nil && f.forgotten == forgotten {
		f.ready[name] = filter
		f.bytes += filter.Size()
		f.log.Info("filter of sealed keys built", "generation", number, "keys", count, "bytes", filter.Size(), "all_bytes", f.bytes)
	}
	return nil
}

// note stores whether a generation has lost keys, by the error of counting them.
func (f *Filters) note(name wire.UUID, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, lost := errors.AsType[*LostError](err); lost {
		f.lost[name] = err
	} else if err == nil {
		delete(f.lost, name)
	}
}

// room reports whether a filter for this many keys stays below the limit. If it does not, that is
// logged once.
func (f *Filters) room(name wire.UUID, number int32, keys int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bytes+bloom.Bytes(keys) <= f.limit {
		return true
	}
	f.refused[name] = true
	f.log.Warn("no memory for a filter of sealed keys: keys are looked up in the database instead, which is slower",
		"generation", number, "keys", keys, "bytes", bloom.Bytes(keys), "in_use", f.bytes, "limit", f.limit)
	return false
}

func fill(ctx context.Context, conn *pgx.Conn, filter *bloom.Filter, number int32, count int64) error {
	res := conn.PgConn().ExecParams(ctx, `SELECT key FROM idem_keys WHERE gen = $1`,
		[][]byte{binary.BigEndian.AppendUint32(nil, uint32(number))}, []uint32{23}, binaryFormat, binaryFormat)
	var n int64
	for res.NextRow() {
		filter.Add(wire.Key(res.Values()[0]))
		n++
	}
	if _, err := res.Close(); err != nil {
		return err
	}
	if n != count {
		return fmt.Errorf("generation %d had %d keys, now %d: it is being dropped", number, count, n)
	}
	return nil
}

// Pace decides whether the open generation is read before keys are claimed in it. Reading costs a
// round trip per batch; not reading costs a whole batch per lost race. So reading begins when
// races exceed one batch in ten, and ends after 100 consecutive batches that would have had no
// race.
type Pace struct {
	heat  int // rises with races, falls with clean batches; even at one race in ten batches
	clean int // batches that are still to be clean before reading ends; 0 = it is not read
}

const (
	raceHeat    = 9
	mostHeat    = 2 * raceHeat
	cleanStreak = 100
)

// Reads reports whether the open generation must be read first.
func (p *Pace) Reads() bool { return p.clean > 0 }

// Raced records that a key of a batch was already claimed in the open generation.
func (p *Pace) Raced() {
	p.heat += raceHeat
	if p.Reads() || p.heat >= mostHeat {
		p.heat, p.clean = 0, cleanStreak
	}
}

// Clean records that no key of a batch was already claimed in the open generation.
func (p *Pace) Clean() {
	p.heat = max(0, p.heat-1)
	p.clean = max(0, p.clean-1)
}

// flaw says why the table of a generation cannot be used, as after a restore of some tables only.
// The migrations and the functions that they make never leave one behind.
type flaw string

const (
	missing flaw = "missing" // or it is not a partition of idem_keys
	keyless flaw = "keyless" // it has no primary key
	closed  flaw = "closed"  // it is sealed, and its generation is open
)

// UnfitError means that the table of a generation cannot be used: claims in it fail, or duplicates
// of the events whose keys were there would take effect again.
type UnfitError struct {
	Number int32
	Flaw   flaw
}

func (e *UnfitError) Error() string {
	switch e.Flaw {
	case missing:
		return fmt.Sprintf("idem_key_gen has generation %d of keys, but idem_keys_%[1]d is missing, or is not a partition of idem_keys; make it, as the role that owns idem_keys, "+
			"and restore its rows from the backup: CREATE TABLE idem_keys_%[1]d PARTITION OF idem_keys (PRIMARY KEY (key)) FOR VALUES IN (%[1]d); ALTER TABLE idem_keys_%[1]d REPLICA IDENTITY FULL", e.Number)
	case keyless:
		return fmt.Sprintf("idem_keys_%d lacks its primary key; make it: ALTER TABLE idem_keys_%[1]d ADD PRIMARY KEY (key)", e.Number)
	}
	return fmt.Sprintf("generation %d of keys is open in idem_key_gen, but its table idem_keys_%[1]d is sealed: restore idem_key_gen and all tables of keys from one backup", e.Number)
}

// Fits returns an [UnfitError] if the table of a generation cannot be used.
func (l List) Fits() error {
	for _, g := range l {
		if g.flaw != "" {
			return &UnfitError{g.Number, g.flaw}
		}
	}
	return nil
}
