package idem

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine"
	"github.com/idemgen/idemgen/runtime/internal/handler"
	"github.com/idemgen/idemgen/runtime/lease"
)

// Option changes a default of a generated constructor.
type Option func(*settings)

// settings are what options change.
type settings struct {
	log        *slog.Logger
	hooks      []hook.Hook
	keyMemory  int64 // bytes
	middleware []Middleware
	leases     *lease.Store // where effects have their leases outside of Postgres; nil if none was given
	effects    engine.Effects
	rates      map[string]*rate
	group      string // of consumers; "" is the consumer's name
	now        func() time.Time
}

// WithLogger sets the logger; the default, also for nil, is [slog.Default]. The runtime logs one
// line per change of a partition's state (Info, Error), one per dead letter or conflict (Warn, at
// most 10 in 10 seconds; the next line gives the number omitted), and one per event with its
// outcome (Debug), each with the consumer. It logs no data of records, with the exceptions in
// docs/guarantees.md (What is kept secret). The logger's handler must not call methods of the
// consumer, which may wait for the line.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) { s.log = cmp.Or(l, slog.Default()) }
}

// WithGroup sets the id of the Kafka consumer group; the default is the consumer's name. It is for
// a service that takes over from another program: with that program's group and start_from:
// committed, partitions begin at its committed offsets, and only one of the two has them at a
// time. The ledger does not depend on the group, which may change later. All processes of a
// consumer must use the same group.
func WithGroup(id string) Option { return func(s *settings) { s.group = id } }

// WithRate limits how many records of a topic this process takes in a second, in all partitions
// together: for a backfill beside other work of the database. Records without an effect count,
// too. A batch is applied as a whole and then waited for, so the rate holds over seconds. The lag
// grows meanwhile, which is not a problem that [Consumer.Health] reports. Zero or less, and a
// topic that the spec does not name, are errors of [New].
func WithRate(topic string, recordsPerSecond int) Option {
	return func(s *settings) {
		if s.rates == nil {
			s.rates = map[string]*rate{}
		}
		s.rates[topic] = &rate{perSecond: recordsPerSecond}
	}
}

// WithHooks adds hooks for metrics, traces and audits: values with one or more of the methods of
// package [hook]. They are called in the order in which they are given. [New] returns an error for
// a value that has no such method.
func WithHooks(hooks ...hook.Hook) Option {
	return func(s *settings) { s.hooks = append(s.hooks, hooks...) }
}

// defaultKeyMemory is room for 20 million keys, or 13 if all come in an eighth of the window.
const defaultKeyMemory = 512 << 20

// WithKeyMemory sets how many bytes all partitions of the process together may use for keys with
// copies: same_partition, at 27 to 40 bytes per key; the default is 512 MiB. A partition whose
// keys do not fit waits, and [Consumer.Health] reports it, until enough keys have passed their
// window. No key is dropped early. Zero or less is an error of [New].
func WithKeyMemory(bytes int64) Option {
	return func(s *settings) { s.keyMemory = bytes }
}

// WithMiddleware wraps every handler call, inside its transaction. The first one given is the
// outermost. Each wraps anew for every call, and must not return nil. A nil Middleware is an error
// of [New].
func WithMiddleware(m ...Middleware) Option {
	return func(s *settings) { s.middleware = append(s.middleware, m...) }
}

// WithLeases sets the store for the leases, locks and results of effects, which otherwise are in
// Postgres: pass redislease.New(client). Events wait while the store does not respond. All
// processes of a consumer must use the same store. [New] returns an error if no event has an
// effect.
func WithLeases(store lease.Store) Option {
	return func(s *settings) { s.leases = &store }
}

// DeliveryFrom returns the delivery for which a handler or an effect was called. It reports false
// outside of such a call.
func DeliveryFrom(ctx context.Context) (Delivery, bool) {
	return idemtype.DeliveryFrom(ctx)
}

// PgxTx returns the pgx transaction behind tx, for libraries that require one, such as river's
// InsertTx. Its Commit and Rollback return [ErrTxOwned]; Begin creates a savepoint as usual,
// which is a Tx, too. Like tx, it ends with the handler: later calls return [pgx.ErrTxClosed],
// also those on its LargeObjects. Do not use its Conn after that, which nothing checks. A handler
// that ends the transaction with its Conn halts the partition. PgxTx panics if tx did not come
// from the runtime or from pgx.
func PgxTx(tx Tx) pgx.Tx { return handler.PgxTx(tx) }
