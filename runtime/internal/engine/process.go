// Package engine implements a partition from its take-over until it is given up. It applies the
// records that a Source delivers, each batch as one transaction, and halts if an operator or
// another owner must act first.
//
//	Partition: state, health      Owner: chain, keys, retry, decide, life    of one memory
//
//	Assigned -> takeOver: find the chain, check it, fence, load ----> Owner
//	Deliver  -> ready: effects -> transaction: decide -> send: memory moves forward -> conclude
//	Standby  -> reads the chain until the partition may be taken over again
//
// Every step goes through the protocol's table. Only the files of a transaction (transaction.go,
// ready.go, explicit.go, shorten.go, overtake.go), its work (work.go, letter.go) and the Owner use
// chain, keys, retry and decide together. These four packages do not import each other, and return
// facts. It must not import any package of this module but backoff, catalog, chain, deadletter,
// decide, fault, frequency, generation, halt, handler, hook, idemtype, keys, lag, lease, ledger,
// notify, outage, pipeline, pool, protocol, retry, session, verdict, watchdog and wire.
package engine

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/frequency"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Process contains what the partitions of one process share.
type Process struct {
	Service  *wire.Service
	Log      *slog.Logger
	Hooks    *notify.Hooks
	Pool     *pool.Pool
	Catalog  *catalog.Current
	Keys     *keys.Process
	Handlers *handler.Caller
	Calls    Calls          // of effects; nil if no event has one
	Prober   *outage.Prober // for all partitions that wait for the database
	Counters Counters

	letters   frequency.Throttle // lines about dead letters
	fences    frequency.Hour     // of other owners
	elsewhere elsewhere
}

// Who names this process for operators.
func Who() string { return chain.Who() }

// Counters count the outcomes of records and transactions.
type Counters struct {
	Applied, Redelivered, Resent, Conflicts, Dead, Waiting, Ignored     atomic.Int64
	Batches, Searches, Fenced, ForeignFences, Waits, KeyRaces, WentBack atomic.Int64
}

func (c *Counters) add(r idemtype.Result) {
	c.Applied.Add(r.Applied)
	c.Resent.Add(r.Duplicates)
	c.Conflicts.Add(r.Conflicts)
	c.Dead.Add(r.Dead)
	c.Waiting.Add(r.Waiting)
	c.Ignored.Add(r.Ignored)
	c.Batches.Add(1)
}

// Statements returns the statements that every connection of a service prepares, except those of
// effects.
func Statements(service *wire.Service) []session.Statement {
	all := slices.Concat(chain.Statements, keys.Statements, []session.Statement{handlerLockWait})
	if service.Schema["keys"] > 0 {
		all = append(all, generation.Statements...)
	}
	return all
}

// logsEvents reports whether each event is logged.
func (s *Process) logsEvents() bool { return s.Log.Enabled(context.Background(), slog.LevelDebug) }

// warn logs a dead letter: its coordinates, event and reason, but never a payload.
func (s *Process) warn(id idemtype.Partition, l *deadletter.Letter) {
	ok, held := s.letters.Pass(time.Now())
	if !ok {
		return
	}
	text := "dead letter"
	if l.Conflict {
		text = "conflict: dead letter"
	}
	args := []any{"topic", id.Topic, "partition", id.Number, "offset", l.Message.Offset, "event", l.Event, "reason", l.Reason}
	if held > 0 {
		args = append(args, "left_out", held)
	}
	s.Log.Warn(text, args...)
}

// SharesKeys reports whether all partitions share the keys of a topic.
func (s *Process) SharesKeys(topic string) bool {
	t := s.Service.Topic(topic)
	return t != nil && t.Window > 0
}

// KeepKeys returns the longest window of the keys that all partitions share.
func (s *Process) KeepKeys() time.Duration {
	keep := time.Duration(0)
	for _, t := range s.Service.Topics {
		keep = max(keep, t.Window)
	}
	return keep
}
