// Package keys knows which keys of events were claimed before: those of the partition's own
// chain from memory (copies: same_partition), those that all partitions share from filters and
// from the database (copies: anywhere), and the last ones of either owner from memory.
//
//	load -> chain -------------> |
//	        recent --------------+-> Known.Find: the decision asks, without I/O
//	        Known.Read: prior ---> |
//
// All of it is a function of the chain up to the tail: only Forward moves it, when a row of ours
// is in the chain. It decides nothing about records. It must not import any package of this
// module but fault, generation, idemtype, keyset, ledger, maintain, pipeline, recent, session,
// verdict and wire.
package keys

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/recent"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// recentKeys is how many of its own keys an owner keeps, in 590 kB: what a producer sends
// again is near.
const recentKeys = 1 << 14

// windowRows is how many rows of the chain stay before the tail if no keys are stored in them:
// for people who read the ledger, and for owners that settle a doubt.
const windowRows = 100

// Process is what the memories of all partitions of a process share.
type Process struct {
	Consumer string
	Budget   *keyset.Budget
	Filters  *generation.Filters
	Now      func() time.Time
	Log      *slog.Logger
	counting sync.Map // Partition -> *keyset.Set whose bytes count
}

// Memory is all that the owner of a partition knows of keys. It is used by one goroutine at a
// time; only Free may be called by any.
type Memory struct {
	process   *Process
	partition idemtype.Partition
	window    time.Duration // of the chain's keys
	chain     *keyset.Set   // of its rows from the window to the tail; nil if the topic has no keys there
	clock     clock
	recent    *recent.Keys // keys that we claimed and that are durable
	pace      generation.Pace
}

// New returns a memory that knows nothing yet.
func New(process *Process, partition idemtype.Partition, topic *wire.Topic) *Memory {
	m := &Memory{process: process, partition: partition, window: topic.Chain, recent: recent.New(recentKeys, topic.Window)}
	if topic.Chain > 0 {
		m.chain = keyset.New(process.Budget, topic.Chain)
	}
	return m
}

// Forward brings the memory forward to the tail, which is a row of ours: its keys are known from
// now on, as long as the owner's memory lasts.
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

// Free gives the memory back: the owner will not use it again. Any goroutine may call it.
func (m *Memory) Free() {
	if m.chain != nil {
		m.chain.Free()
		m.process.counting.CompareAndDelete(m.partition, m.chain)
	}
}

// replace counts this memory instead of that of an earlier owner in this process, whose memory
// the fence ends.
func (m *Memory) replace() {
	if before, ok := m.process.counting.Swap(m.partition, m.chain); ok && before != m.chain {
		before.(*keyset.Set).Free()
	}
}

// Window is the first row of the chain that is still needed, as the next append declares. If keys
// are in the chain, it is the first row of a segment that is younger than the keys' window, by
// the database's clock.
func (m *Memory) Window(tail ledger.Tail) int64 {
	switch {
	case m.chain == nil:
		return max(0, tail.Seq+1-windowRows)
	case !m.clock.agrees:
		return tail.Window
	}
	return m.chain.Window(m.clock.at, m.window, tail.Seq+1)
}

// Reserve makes sure that the keys of a row can be kept once they are durable. Otherwise the
// partition waits until keys are older than the window: none is dropped earlier, none refused.
func (m *Memory) Reserve(ctx context.Context, conn *pgx.Conn, tail ledger.Tail, row keyset.Row) error {
	if len(row.Keys) == 0 || m.chain.Reserve(row, m.Window(tail)) {
		return nil
	}
	var now time.Time // keys may have become old since the last append
	sent := m.process.Now()
	if err := conn.QueryRow(ctx, ledger.ClockSQL).Scan(&now); err != nil {
		return err
	}
	m.Heard(now, sent)
	if m.chain.Reserve(row, m.Window(tail)) {
		return nil
	}
	return m.full()
}

func (m *Memory) full() error {
	return fmt.Errorf("%w: all partitions of this process together may use %d MiB: the partition waits until keys are older than their window; "+
		"raise it with WithKeyMemory, spread the partitions over more processes, or shorten the window", verdict.ErrKeyMemory, m.process.Budget.Limit()>>20)
}

// Raced counts a batch that lost a key to another partition. While many do, reading the open
// generation first is worth its time.
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

// Len is how many keys of the chain the memory holds.
func (m *Memory) Len() int { return m.chain.Len() }
