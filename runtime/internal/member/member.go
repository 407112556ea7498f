// Package member implements a member of a consumer group, for any Kafka client. It takes assigned
// partitions over, makes the client read them from the sink's positions, compares them with the
// brokers' logs, commits offsets as hints, and reports problems to the sink. Package intake passes
// the records from the client to the sink.
//
// One goroutine polls the client. Only this goroutine calls the methods of a [Member], so only it
// assigns, seeks, pauses and resumes. Queries to brokers have goroutines of their own. Every
// assigned partition also has a goroutine, which calls the sink.
//
// It must not import any package of this module but idemtype, intake, outage,
// refusal and wire.
package member

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Pace contains the times that do not depend on settings.
type Pace struct {
	Request    time.Duration // limit of one query to the broker, and of the sink's end
	Backoff    time.Duration // first pause after a failed take-over
	MaxBackoff time.Duration // longest pause; they are doubled
	Idle       time.Duration // time without a record after which Idle of the sink is called
	Commit     time.Duration // between commits of offsets
	Compare    time.Duration // between comparisons of topics with the broker
	Silence    time.Duration // time without a record after which a partition is compared with its log
	Close      time.Duration // limit for closing the client
}

// Usual is the pace, unless a context has another one.
var Usual = Pace{
	Request: 5 * time.Second,
	Backoff: 250 * time.Millisecond, MaxBackoff: 10 * time.Second, Idle: 5 * time.Second,
	Commit: 5 * time.Second, Compare: 5 * time.Second, Silence: 30 * time.Second, Close: 10 * time.Second,
}

type paceKey struct{}

// AtPace returns a context in which Source.Run has another pace, for tests.
func AtPace(ctx context.Context, p Pace) context.Context { return context.WithValue(ctx, paceKey{}, p) }

// PaceOf returns the pace of a Source.Run.
func PaceOf(ctx context.Context) Pace {
	if p, ok := ctx.Value(paceKey{}).(Pace); ok {
		return p
	}
	return Usual
}

// Config is the configuration of a member, set by its client's package.
type Config struct {
	Subscription idemtype.Subscription
	Sink         idemtype.Sink
	Client       Client
	Log          *slog.Logger
	Brokers      string // as the settings name them
	Session      string // how long the group waits for a member that died, in words
	FetchBytes   int    // that the client fetches from a partition at a time
}

// Member is one Source.Run. Its parts return facts; only the member calls them and the sink.
type Member struct {
	Pace
	ctx    context.Context // of Run
	sub    idemtype.Subscription
	sink   idemtype.Sink
	client Client
	log    *slog.Logger

	partitions partitions
	fetcher    *fetcher      // what the client fetches
	intake     intake.Config // of all partitions
	group      membership    // of this process in its group
	committer  *committer    // offsets, as a hint for operators
	comparison comparison    // of partitions with their logs
	calls      *sync.WaitGroup
}

// New returns a member without partitions.
func New(ctx context.Context, c Config) *Member {
	pace, calls := PaceOf(ctx), &sync.WaitGroup{}
	sub := c.Subscription
	m := &Member{
		Pace: pace, ctx: ctx, sub: sub, sink: c.Sink, client: c.Client, log: c.Log, calls: calls,
		partitions: newPartitions(),
		fetcher:    &fetcher{client: c.Client},
		group:      membership{brokers: c.Brokers, topics: sub.Topics, session: c.Session},
		committer:  &committer{client: c.Client, log: c.Log, calls: calls, next: time.Now().Add(pace.Commit)},
		comparison: newComparison(pace),
	}
	m.intake = intake.Config{
		Sink: c.Sink, Log: c.Log,
		Describe: func(ctx context.Context, id idemtype.Partition) (idemtype.Assignment, error) {
			return describe(ctx, c.Client, id)
		},
		Limits:  intake.Limits{Records: sub.BatchEvents, Bytes: sub.BatchBytes, Wait: sub.BatchWait, FetchBytes: c.FetchBytes},
		Backoff: pace.Backoff, MaxBackoff: pace.MaxBackoff, Idle: pace.Idle,
		Reported: intake.NewSignal(), Demand: intake.NewSignal(),
	}
	return m
}

// Fail ends the member with an error, if it is the first one.
func (m *Member) Fail(err error) { m.fetcher.check(err) }

// Ended reports whether the member must leave.
func (m *Member) Ended() bool { return m.ctx.Err() != nil || m.fetcher.err != nil }

// DoWhatIsDue handles the reports of deliveries, and the work that is due. It is called between
// polls.
func (m *Member) DoWhatIsDue(now time.Time) {
	select {
	case <-m.intake.Reported:
		m.fetcher.read(m.applyReports(), false)
	default:
	}
	if m.committer.due(now, m.Commit) {
		m.commitDurable()
	}
	if m.partitions.endsDue(now) {
		m.tellEnds(now)
	}
	for len(m.comparison.found) > 0 {
		m.applyFindings(<-m.comparison.found)
	}
	if m.comparison.due(now) {
		m.compare(now)
	}
}

// PollWait returns how long a poll may wait for a record. The time is short while a partition
// waits for the polling goroutine, which nothing else can wake.
func (m *Member) PollWait() time.Duration {
	for _, p := range m.partitions.all {
		if p.cursor.State == intake.TakingOver || p.cursor.State == intake.Reading && p.paused {
			return 5 * time.Millisecond
		}
	}
	return 50 * time.Millisecond
}

// applyReports changes partitions to the states that their deliveries reported, and returns those
// that the client must read.
func (m *Member) applyReports() (toRead []*Partition) {
	for _, p := range m.partitions.all {
		if report, ok := p.delivery.Report(); ok {
			if p.cursor.Apply(report) {
				toRead = append(toRead, p)
				continue
			}
			m.fetcher.pause(p)
		}
		if p.cursor.IsRead() && p.paused && !p.delivery.Queue.Paused() {
			m.fetcher.resume(p)
		}
	}
	return toRead
}

// Accept puts a record into its partition's queue. If it is full, the caller must call Throttle
// before it polls again.
func (m *Member) Accept(p *Partition, record *wire.Message, size int) (full bool) {
	switch p.cursor.Accept(record, size) {
	case intake.Accepted:
		p.silence.heard()
	case intake.Full:
		p.silence.heard()
		return true
	case intake.Arrived:
		m.recordArrived(p)
	case intake.NewEpoch:
		m.log.Info("the partition has a new leader: the position is compared with its log", "topic", record.Topic,
			"partition", record.Partition, "offset", record.Offset, "epoch", record.LeaderEpoch, "before", p.cursor.Epoch)
		p.delivery.TakeOverAgain()
	case intake.OldEpoch:
		m.log.Warn("the leader epoch went down", "topic", record.Topic, "partition", record.Partition,
			"offset", record.Offset, "epoch", record.LeaderEpoch, "before", p.cursor.Epoch)
		p.delivery.TakeOverAgain()
	}
	return false
}

// Throttle waits for room in a queue that is full, or pauses its partition. It reports whether it
// waited: then the next poll must take a single record.
func (m *Member) Throttle(p *Partition) (waited bool) {
	if p.paused {
		return false
	}
	pause, waited := p.delivery.Queue.Throttle(m.partitions.starved)
	if pause {
		m.fetcher.pause(p)
	}
	return waited
}

// ReachedEnd records that the client has read a partition to an offset, after which the log now
// has no records.
func (m *Member) ReachedEnd(p *Partition, end int64) {
	if p.cursor.ReachedEnd(end) == intake.Arrived {
		m.recordArrived(p)
	}
}

func (m *Member) recordArrived(p *Partition) {
	m.fetcher.pause(p)
	p.delivery.RecordArrived()
}
