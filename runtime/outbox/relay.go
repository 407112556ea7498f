package outbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/pool"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Relay sends the rows of one outbox. [New] makes it; the fields may be set before Run.
type Relay struct {
	// Logger gets a line when the relay begins to send, when it stands and when it goes on, and
	// for each event that cannot be sent. Nil means slog.Default().
	Logger *slog.Logger
	// BatchRows is how many rows are read and sent together; 0 means 1000.
	BatchRows int
	// BatchBytes is how many bytes of payloads and keys are read together; 0 means 4 MiB. A
	// row that is larger goes alone.
	BatchBytes int64
	// Poll is the pause between two reads of an empty table; 0 means 200 ms.
	Poll time.Duration

	db     *pgxpool.Pool
	table  wire.Outbox
	to     Producer
	pace   *pace // tests shorten it; nil is the usual one
	status status
	// acked are rows that Kafka has and that may still be in the table, whatever became of the
	// connection. Only the goroutine of Run uses it.
	acked []named
}

// pace is how long things take that nobody sets.
type pace struct {
	standby   time.Duration // between two tries to become the one that sends
	heartbeat time.Duration // between two questions, while records are on their way, whether the session lives
	floor     time.Duration // between two looks at how far the table is empty, and at what waits
	drain     time.Duration // at the end, for records on their way
	late      time.Duration // after which records on their way are in Health
	retry     time.Duration // first pause before a refused row is tried again
	mostRetry time.Duration // longest such pause; they are doubled
}

var usualPace = pace{
	standby: 2 * time.Second, heartbeat: time.Second, floor: 5 * time.Second,
	drain: 10 * time.Second, late: 10 * time.Second, retry: time.Second, mostRetry: time.Minute,
}

func (r *Relay) paces() pace {
	if r.pace != nil {
		return *r.pace
	}
	return usualPace
}

// New is called by generated code. It does no I/O. A relay has one connection of its own, which
// takes address and credentials from db; db itself is never used or changed.
func New(db *pgxpool.Pool, table wire.Outbox, to Producer) *Relay {
	return &Relay{db: db, table: table, to: to}
}

func (r *Relay) log() *slog.Logger {
	return cmp.Or(r.Logger, slog.Default()).With("outbox", r.table.Table)
}

// Run sends until ctx ends, and returns nil then: records on their way are waited for, 10 seconds
// at most, and those that Kafka has are deleted. One call at a time is allowed.
//
// An outage of the database or of Kafka is waited for. Run returns an error at the start only:
// where the database answers and refuses, as it does for a wrong password, where the table is
// missing, or the role may not read and delete its rows.
func (r *Relay) Run(ctx context.Context) error {
	switch {
	case r.db == nil:
		return errors.New("outbox: the relay needs a connection pool, got nil")
	case r.to == nil:
		return errors.New("outbox: the relay needs a Producer, got nil")
	case !r.status.begin():
		return errors.New("outbox: Run was called a second time while the first call runs")
	}
	defer r.status.end()
	reached := false
	for attempt := 1; ; attempt++ {
		begun := time.Now()
		err := r.term(ctx, &reached)
		if ctx.Err() != nil {
			return nil
		}
		if !reached && final(err) {
			return err
		}
		if time.Since(begun) > 2*backoff.Most { // it worked, or stood by
			attempt = 1
		}
		r.status.condition.Set(r.log(), err)
		if !backoff.Sleep(ctx, backoff.Pause(attempt, backoff.Initial, backoff.Most)) {
			return nil
		}
	}
}

// final reports whether a person must act before the relay can start.
func final(err error) bool {
	_, mine := errors.AsType[*unusableError](err)
	return mine || pool.Final(err)
}

// term connects, waits until nobody else sends, and sends until something fails.
func (r *Relay) term(ctx context.Context, reached *bool) error {
	s, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close(ctx)
	*reached = true
	if err := r.awaitLock(ctx, s); err != nil {
		return err
	}
	sender, err := r.to.Open(ctx)
	if err != nil {
		return kafkaAway(err)
	}
	t := &term{Relay: r, session: s, sender: sender, pace: r.paces(), held: map[target]*heldBack{}}
	defer t.end()
	r.status.lead(true)
	r.log().Info("the relay sends")
	return t.run(ctx)
}
