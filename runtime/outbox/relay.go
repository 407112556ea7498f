package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Relay sends the events of idem_outbox to Kafka, and deletes each from the table once the broker
// has acknowledged it. Any number of relays may run at the same time: one of them leads, and
// another takes over when it ends.
type Relay struct {
	// DB is the database with the table. A relay takes up to two connections out of it, which do
	// not count toward its MaxConns.
	DB *pgxpool.Pool
	// Producer sends the records. The relay does not close it.
	Producer Producer
	// Topic returns the topic of an aggregate type; nil means "outbox.event." followed by the
	// type, which is Debezium's default. It is called from a goroutine of the relay. An event for
	// which it panics, or returns "" or an invalid topic name, is rejected. It is not called for
	// dead letters.
	Topic func(aggregateType string) string
	// MaxWaiting is the number of waiting events above which [Relay.Health] returns an error; 0
	// means 100000. Less is an error of [Relay.Run].
	MaxWaiting int
	// Logger receives the relay's log lines; nil means slog.Default().
	Logger *slog.Logger

	mu    sync.Mutex
	fault map[string]error // by what it is about
	since map[string]time.Time
	is    numbers // what Stats says
}

// runner is one call of [Relay.Run]: the relay and its settings, which only tests change.
type runner struct {
	*Relay
	pace   pace
	most   int  // aggregates that are held back while others continue
	tested bool // sessions were found to work
}

// pace is how often a relay asks, and how long it is waited for.
type pace struct {
	// poll is how long an idle relay waits for word of a commit before it looks by itself, and how
	// long one that does not lead waits before it asks again.
	poll time.Duration
	// silence is how long Postgres waits for a leader that is not heard of before it ends its
	// session, and so its lead; and how long a leader waits for an answer of Postgres.
	silence time.Duration
	// late is how long an event may wait for its answer until its aggregate leaves the room to
	// others.
	late time.Duration
	// again is how long a leader with something to do waits until it looks whether there is more.
	again time.Duration
}

const (
	defaultWaiting = 100_000
	// flushFor is how long a relay that ends waits for acknowledgements.
	flushFor = 5 * time.Second
	// removeFor is how long it waits then until acknowledged events are deleted.
	removeFor = 3 * time.Second
)

// Run sends events until ctx is done. It then waits for acknowledgements for up to five seconds,
// and returns nil, usually within ten seconds. Failures are logged, reported by Health and
// retried. Run returns an error only if DB or Producer is missing, if MaxWaiting is negative, or
// if at the start there is a connection pooler in transaction mode in front of the database. No
// other Run of the relay may be running.
func (r *Relay) Run(ctx context.Context) error { return newRunner(r).Run(ctx) }

func newRunner(r *Relay) *runner {
	return &runner{Relay: r, pace: pace{poll: time.Second, silence: 10 * time.Second, late: time.Second, again: 50 * time.Millisecond}, most: mostHeld}
}

// Run is that of the relay.
func (r *runner) Run(ctx context.Context) error {
	if r.DB == nil || r.Producer == nil {
		return errors.New("outbox: a relay needs DB and Producer")
	}
	if r.MaxWaiting < 0 {
		return fmt.Errorf("outbox: MaxWaiting is %d, which is negative", r.MaxWaiting)
	}
	defer r.rest()
	defer r.report(ctx)()
	return r.serve(ctx)
}

func (r *Relay) log() *slog.Logger {
	if r.Logger != nil {
		return r.Logger
	}
	return slog.Default()
}
