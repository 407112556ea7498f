// Package keys finds out which keys of events were claimed before. Keys of the partition's own
// chain (copies: same_partition) are in memory. Keys that all partitions share (copies: anywhere)
// are looked up with filters and in the database; the owner's most recent ones are in memory.
//
//	load -> chain -------------> |
//	        recent --------------+-> Known.Find: the decision asks, without I/O
//	        Known.Read: prior ---> |
//
// All of the memory is a function of the chain up to the tail: only Forward changes it, when a row
// of ours is in the chain. The package decides nothing about records. It must not import any
// package of this module but fault, generation, idemtype, keyset, ledger, maintain, pipeline,
// recent, session, verdict and wire.
package keys

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/internal/recent"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// recentKeys is how many of its own keys an owner keeps, in 590 kB: most resends follow soon.
const recentKeys = 1 << 14

// windowRows is how many rows of the chain are kept before the tail if they contain no keys: for
// operators who read the ledger, and for owners that resolve a doubt.
const windowRows = 100

// Process contains what the memories of all partitions of a process share.
type Process struct {
	Consumer string
	Budget   *keyset.Budget
	Filters  *generation.Filters
	Now      func() time.Time
	Times    Times
	Log      *slog.Logger
	counting sync.Map // Partition -> *keyset.Set whose bytes count
}

// Memory is all that the owner of a partition knows about keys. Only one goroutine may use it at a
// time, but any goroutine may call Free.
type Memory struct {
	process   *Process
	partition idemtype.Partition
	window    time.Duration // of the chain's keys
	chain     *keyset.Set   // of its rows from the window to the tail; nil if the topic has no keys there
	clock     clock
	forever   bool             // the topic has no keys
	seen      func() time.Time // the time before which the partition has read everything; zero if unknown
	keepEvery time.Duration
	keepNext  time.Time
	blind     bool         // the last call of Keep knew no record
	recent    *recent.Keys // keys that we claimed and that are durable
	pace      generation.Pace
}

// New returns an empty memory. seen returns the time before which the partition has read
// everything that was appended, or zero.
func New(process *Process, partition idemtype.Partition, topic *wire.Topic, seen func() time.Time) *Memory {
	m := &Memory{
		process: process, partition: partition, window: topic.Chain, recent: recent.New(recentKeys, topic.Window),
		seen: seen, forever: topic.Chain == 0 && topic.Window == 0, keepEvery: min(keepMost, max(topic.Chain, topic.Window)/keepParts),
	}
	if topic.Chain > 0 {
		m.chain = keyset.New(process.Budget, topic.Chain)
	}
	return m
}

// Forward moves the memory forward to the tail, which is a row of ours: its keys are known from
// now on, as long as the owner's memory exists.
func (m *Memory) Forward(tail ledger.Tail, row ledger.Row, claims []wire.Claim) {
	if m.chain != nil {
		m.chain.Drop(tail.Window)
		m.chain.Add(keyset.Row{Seq: tail.Seq, Written: tail.Written, Keys: row.Keys, Defs: row.Defs})
	}
	now := time.Now()
	for i := range claims {
		m.recent.Add(claims[i].Key, recent.Entry{Def: claims[i].Def, Print: claims[i].Print, Seq: tail.Seq}, now)
	}
	m.pace.Clean()
}

// Free releases the memory: the owner will not use it again. Any goroutine may call it.
func (m *Memory) Free() {
	if m.chain != nil {
		m.chain.Free()
		m.process.counting.CompareAndDelete(m.partition, m.chain)
	}
}

// replace counts the bytes of this memory instead of those of an earlier owner in this process,
// whose memory the fence ends.
func (m *Memory) replace() {
	if before, ok := m.process.counting.Swap(m.partition, m.chain); ok && before != m.chain {
		before.(*keyset.Set).Free()
	}
}

// Window returns the first row of the chain that is still needed, for the next append to declare.
// If the chain contains keys, it is the first row of a segment that is younger than the keys'
// window, as of the time that the partition has read up to.
func (m *Memory) Window(tail ledger.Tail) int64 {
	if m.chain == nil {
		return max(0, tail.Seq+1-windowRows)
	}
	at, known := m.horizon()
	if !known {
		return tail.Window
	}
	return m.chain.Window(at, m.window, tail.Seq+1)
}

// Reserve ensures that there is memory for the keys of a row once they are durable. Otherwise the
// partition waits until another one frees some, or an operator gives it more: no key is forgotten
// for that, because records that are not read yet may be copies.
func (m *Memory) Reserve(tail ledger.Tail, row keyset.Row) error {
	if len(row.Keys) == 0 || m.chain.Reserve(row, m.Window(tail)) {
		return nil
	}
	return m.full()
}

func (m *Memory) full() error {
	return fmt.Errorf("%w: all partitions of this process together may use %d MiB: the partition waits, and no key is dropped early; "+
		"raise it with WithKeyMemory, spread the partitions over more processes, or shorten the window", verdict.ErrKeyMemory, m.process.Budget.Limit()>>20)
}

// Raced counts a batch that lost a key to another partition. While that happens often, the open
// generation is read before the claim.
func (m *Memory) Raced(err error) {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "23505" {
		m.pace.Raced()
	}
}

// Find finds a key of the chain.
func (m *Memory) Find(key wire.Key) (print, def uint32, ok bool) {
	if m.chain == nil {
		return 0, 0, false
	}
	return m.chain.Find(key)
}

// Len returns the number of keys of the chain in the memory.
func (m *Memory) Len() int { return m.chain.Len() }

// loadRows is how many rows of the chain one statement of a load reads, so that a long window does
// not exceed the session's statement_timeout.
const loadRows = 1000

// measureRows is how many rows are measured, for the same reason. If all of them are old, later
// batches advance the window.
const measureRows = 20_000

var chainKeys = session.NewStatement("chain_keys", ledger.KeysSQL)

// Statements are prepared on every connection.
var Statements = []session.Statement{chainKeys}

var binaryFormat = []int16{1}

// InChain reports whether the topic has keys in the chain, which must be loaded.
func (m *Memory) InChain() bool { return m.chain != nil }

// Measure determines where the window begins, before the partition is taken over. If the keys
// from there on do not fit into the memory, it fails, and the previous owner is not fenced. all
// says that the partition has been read to its end.
func (m *Memory) Measure(ctx context.Context, conn *pgx.Conn, stream int32, tail ledger.Tail, all bool) (window int64, err error) {
	if m.chain == nil {
		return m.Window(tail), nil
	}
	var now time.Time
	var last int64
	var first *int64
	var young, whole int
	sent := m.process.Now()
	if err := conn.QueryRow(ctx, ledger.MeasureSQL, stream, tail.Window, m.window, measureRows, all).Scan(&now, &last, &first, &young, &whole); err != nil {
		return 0, err
	}
	m.Heard(now, sent)
	window = last + 1
	switch {
	case !m.clock.agrees:
		window, young = tail.Window, whole
	case first != nil:
		window = *first
	}
	m.replace()
	if !m.process.Budget.Fits(young / keyset.EntryBytes) {
		return 0, m.full()
	}
	return window, nil
}

// Load builds the memory from the chain, up to the owner's fence, in parts with a timeout each,
// because the server may have stopped responding. If another process appended after the fence, the
// owner's next append fails.
func (m *Memory) Load(ctx context.Context, conn *pgconn.PgConn, stream int32, tail ledger.Tail, most time.Duration) error {
	start := time.Now()
	for from := tail.Window; ; {
		part, cancel := context.WithTimeout(ctx, most)
		n, last, err := m.loadPart(part, conn, stream, from, tail.Seq)
		cancel()
		if ctx.Err() != nil { // the server only reports that the statement was canceled
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if n < loadRows {
			break
		}
		from = last + 1
	}
	m.chain.Loaded()
	m.process.Log.Info("the keys of a partition were loaded", "topic", m.partition.Topic, "partition", m.partition.Number,
		"keys", m.chain.Len(), "from_seq", tail.Window, "to_seq", tail.Seq, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// loadPart loads the first rows with keys from a row on.
func (m *Memory) loadPart(ctx context.Context, conn *pgconn.PgConn, stream int32, from, to int64) (n int, last int64, err error) {
	args := [][]byte{ledger.Int4(stream), ledger.Int8(from), ledger.Int8(to), ledger.Int8(loadRows)}
	rows := conn.ExecPrepared(ctx, session.Of(conn).Name(chainKeys), args, binaryFormat, binaryFormat)
	fits := true
	for fits && rows.NextRow() {
		v := rows.Values()
		last = int64(binary.BigEndian.Uint64(v[0]))
		fits = m.chain.Load(keyset.Row{
			Seq: last, Written: ledger.Time(v[1]), Keys: v[2], Defs: v[3],
		})
		n++
	}
	_, err = rows.Close()
	if err == nil && !fits {
		err = m.full()
	}
	return n, last, err
}

// A key is forgotten once the partition has read everything that was appended a window after the
// key's event was applied: no copy that arrived within the window is unread. A clock alone says
// nothing of that while the partition is paused, halted or behind. Three clocks take part: the
// database's writes the times of keys, this process's tells it from one that jumped, and the
// records' own times bound both.

// clock is the last time known from the database's clock.
type clock struct {
	at     time.Time
	heard  time.Time // when, by this process
	agrees bool      // with this process's clock
}

// Heard records a time of the database's clock, which was read after sent and before now. While
// the clocks do not agree, no key leaves the window.
func (m *Memory) Heard(at, sent time.Time) {
	if m.forever {
		return
	}
	now := m.process.Now()
	before := m.clock
	m.clock = clock{
		at: at, heard: time.Now(),
		agrees: !at.Before(sent.Add(-maintain.ClockTolerance)) && !at.After(now.Add(maintain.ClockTolerance)),
	}
	args := []any{"tolerance", maintain.ClockTolerance, "topic", m.partition.Topic, "partition", m.partition.Number, "database", at.UTC(), "worker", now.UTC()}
	switch {
	case m.clock.agrees == before.agrees && !before.at.IsZero():
	case !m.clock.agrees:
		m.process.Log.Error("the clocks of the database and this process differ: no key leaves its window until they agree", args...)
	case !before.at.IsZero():
		m.process.Log.Info("the clocks of the database and this process agree again", args...)
	}
}

// horizon returns the time, by the database's clock, before which all records were appended that
// the partition may still have had to read. It reports false if that is not known.
func (m *Memory) horizon() (time.Time, bool) {
	seen := m.seen()
	if seen.IsZero() || !m.clock.agrees {
		return time.Time{}, false
	}
	return m.process.Times.limit(m.clock.at.Add(seen.Sub(m.clock.heard)))
}

// Keep records in the database how far the partition has been read, for the next owner, and for
// the upkeep of keys that all partitions share. It does so from time to time, if the tail is in
// the chain.
func (m *Memory) Keep(ctx context.Context, conn *pgx.Conn, stream int32, tail ledger.Tail) error {
	if !m.KeepDue() {
		return nil
	}
	m.keepNext = time.Now().Add(m.keepEvery)
	var at time.Time
	var others *time.Time
	sent := m.process.Now()
	if err := conn.QueryRow(ctx, ledger.ClockSQL, m.process.Consumer).Scan(&at, &others); err != nil {
		return err
	}
	m.Heard(at, sent)
	if others != nil { // by records that another process may have read
		m.process.Times.reach(*others)
	}
	m.blind = !m.process.Times.known()
	seen, ok := m.horizon()
	if !ok {
		return nil
	}
	_, err := conn.Exec(ctx, ledger.SeenSQL, stream, seen, tail.Seq, tail.Token)
	return err
}

// KeepDue reports whether it is time to call Keep. That is also the case once the first record has
// come, if none was known before.
func (m *Memory) KeepDue() bool {
	due := !time.Now().Before(m.keepNext) || m.blind && m.process.Times.known()
	return due && !m.forever && !m.seen().IsZero()
}

// keepMost is the longest interval between two calls of Keep that do something.
const keepMost = time.Minute

// keepParts is how many such intervals a window has at least.
const keepParts = 20

// Times is what the records that a process reads say of the time. What those of other processes
// say is in the database: a process may own only partitions without records.
type Times struct {
	latest  atomic.Int64 // the greatest timestamp, in nanoseconds since 1970; 0 if there is none
	untimed atomic.Bool  // records have no timestamps
}

// Note notes the timestamp of a record.
func (t *Times) Note(m *wire.Message) {
	if m.Time.IsZero() {
		t.untimed.Store(true)
		return
	}
	t.reach(m.Time)
}

// known reports whether a record says anything of the time.
func (t *Times) known() bool { return t.untimed.Load() || t.latest.Load() != 0 }

// reach notes a time that a record has, or that is not after the one of some record.
func (t *Times) reach(then time.Time) {
	for at, was := then.UnixNano(), t.latest.Load(); at > was && !t.latest.CompareAndSwap(was, at); was = t.latest.Load() {
	}
}

// limit returns at, or the greatest timestamp of a record if that is earlier: clocks that are
// ahead together forget nothing. It reports false before the first record.
func (t *Times) limit(at time.Time) (time.Time, bool) {
	if t.untimed.Load() {
		return at, true
	}
	latest := t.latest.Load()
	if last := time.Unix(0, latest); last.Before(at) {
		at = last
	}
	return at, latest != 0
}
