package keys

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/maintain"
	"github.com/idemgen/idemgen/runtime/wire"
)

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
