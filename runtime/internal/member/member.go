// Package member implements a member of a consumer group, for any Kafka client. It takes assigned
// partitions over, makes the client read them from the sink's positions, compares them with the
// brokers' logs, commits offsets as hints, and reports problems to the sink. Package intake passes
// the records from the client to the sink.
//
// One goroutine polls the client. Only this goroutine calls the methods of a [Member], so only it
// assigns, seeks, pauses and resumes. Queries to brokers have goroutines of their own. Every
// assigned partition also has a goroutine, which calls the sink.
//
// It must not import any package of this module but idemtype, intake, outage, refusal, retention
// and wire.
package member

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
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
		p.delivery.FoundOlder(idemtype.Position{Offset: record.Offset, Epoch: record.LeaderEpoch})
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

// Partition is what the polling goroutine knows about an assigned partition.
type Partition struct {
	delivery  *intake.Delivery
	cursor    intake.Cursor
	assigned  bool // in the client
	paused    bool // in the client
	lost      bool // the client lost the position
	silence   silence
	end       int64 // of the log, as a comparison found it: the client may know less
	told      told
	committed atomic.Pointer[idemtype.Commit] // the last one to Kafka; nil if there was none; of any goroutine
}

func newPartition(d *intake.Delivery) *Partition {
	p := &Partition{delivery: d, cursor: intake.NewCursor(d.Queue)}
	return p
}

// ID returns the name of the partition.
func (p *Partition) ID() idemtype.Partition { return p.delivery.Partition }

// Misses reports whether a log that begins at an offset has lost records that were not yet read.
func (p *Partition) Misses(logStart int64) bool {
	return p.cursor.IsRead() && p.cursor.Next < logStart
}

// isFetched reports whether the client fetches records of the partition.
func (p *Partition) isFetched() bool {
	return p.assigned && p.cursor.State == intake.Reading && !p.paused
}

// start returns where the client must read.
func (p *Partition) start() At { return At{p.delivery.Partition, p.cursor.Start, p.cursor.Topic.ID} }

// partitions are the assigned partitions.
type partitions struct {
	all      map[idemtype.Partition]*Partition
	previous map[idemtype.Partition]<-chan struct{} // closed when the last delivery of a partition has ended
	last     *Partition                             // that Find found
	closed   bool                                   // no more partitions are accepted
	nextEnds time.Time
}

func newPartitions() partitions {
	return partitions{all: map[idemtype.Partition]*Partition{}, previous: map[idemtype.Partition]<-chan struct{}{}}
}

func (s *partitions) add(p *Partition) {
	id := p.delivery.Partition
	s.all[id], s.previous[id] = p, p.delivery.Over()
}

func (s *partitions) remove(p *Partition) {
	delete(s.all, p.delivery.Partition)
	s.last = nil
}

// holds reports whether a partition is still assigned.
func (s *partitions) holds(p *Partition) bool { return s.all[p.delivery.Partition] == p }

// Find returns the partition of a record; nil if it is not assigned.
func (m *Member) Find(topic string, number int32) *Partition {
	s := &m.partitions
	if p := s.last; p != nil && p.delivery.Partition.Number == number && p.delivery.Partition.Topic == topic {
		return p
	}
	s.last = s.all[idemtype.Partition{Topic: topic, Number: number}]
	return s.last
}

// among returns the assigned ones of a list.
func (s *partitions) among(list []idemtype.Partition) (out []*Partition) {
	for _, id := range list {
		if p := s.all[id]; p != nil {
			out = append(out, p)
		}
	}
	return out
}

// starved reports whether a partition waits for records although its log may have more.
func (s *partitions) starved() bool {
	for _, p := range s.all {
		if p.cursor.State == intake.Reading && !p.paused && p.delivery.Queue.Starved() {
			return true
		}
	}
	return false
}

// silence tracks how long a partition has had no records, and the results of comparisons about
// that.
type silence struct {
	quiet    bool      // no record since the last comparison
	since    time.Time // the first comparison without a record, or the last one with the log
	behind   time.Time // when a comparison first showed records that the client does not deliver
	reported bool      // it was reported to the sink
}

// heard records that a record arrived, or that none is expected.
func (s *silence) heard() { s.quiet = false }

// lasts reports, once per limit, that no record has arrived for that long. It is called with each
// comparison.
func (s *silence) lasts(limit time.Duration, now time.Time) bool {
	if !s.quiet {
		s.quiet, s.since = true, now
		return false
	}
	if now.Sub(s.since) < limit {
		return false
	}
	s.since = now
	return true
}

// stuck records that the log has records that the client does not deliver. It reports whether that
// must be reported to the sink, because it was so before.
func (s *silence) stuck(now time.Time) (tell bool) {
	if s.behind.IsZero() {
		s.behind = now
		return false
	}
	tell = !s.reported
	s.reported = true
	return tell
}

// over records that the client delivers all available records. It reports whether that must be
// reported to the sink.
func (s *silence) over() (tell bool) {
	tell = s.reported
	s.behind, s.reported = time.Time{}, false
	return tell
}
