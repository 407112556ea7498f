package confluent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/confluent/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// run is one Source.Run. It belongs to the polling goroutine, which also runs the rebalance
// callback. Its collaborators return facts; only run calls them, and the sink.
type run struct {
	pace
	ctx    context.Context // of Run
	sub    idem.Subscription
	sink   idem.Sink
	client *kafka.Consumer
	log    *clientlog.Log

	partitions partitions
	intake     intake.Config // of all partitions
	fetcher    *fetcher      // what the client fetches
	broker     *broker       // what brokers answer
	group      membership    // of this process in its group
	committer  *committer    // offsets, as a hint for people
	comparison comparison    // of partitions with their logs
	calls      *sync.WaitGroup
}

func newRun(ctx context.Context, s *Source, sub idem.Subscription, sink idem.Sink, client *kafka.Consumer) *run {
	logger := s.Logger
	if logger == nil {
		logger = slog.Default()
	}
	pace, calls := s.paces(), &sync.WaitGroup{}
	r := &run{
		pace: pace, ctx: ctx, sub: sub, sink: sink, client: client, calls: calls,
		log:        clientlog.New(logger, s.Brokers),
		partitions: newPartitions(),
		fetcher:    &fetcher{client: client},
		broker:     &broker{client: client, timeout: pace.request},
		group:      membership{brokers: s.Brokers, topics: sub.Topics, session: s.sessionEnds(sub)},
		committer:  &committer{client: client, log: logger, calls: calls, next: time.Now().Add(pace.commit)},
		comparison: newComparison(pace),
	}
	r.intake = intake.Config{
		Sink: sink, Describe: r.broker.describe, Log: logger,
		Limits:  intake.Limits{Records: sub.BatchEvents, Bytes: sub.BatchBytes, Wait: sub.BatchWait, FetchBytes: fetchBytes},
		Backoff: pace.backoff, MaxBackoff: pace.maxBackoff, Idle: pace.idle,
		Reported: intake.NewSignal(), Demand: intake.NewSignal(),
	}
	return r
}

// poll joins the group and polls until ctx ends or the client fails for good.
func (r *run) poll() (err error) {
	if r.broker.admin, err = kafka.NewAdminClientFromConsumer(r.client); err != nil {
		return err
	}
	callback := func(_ *kafka.Consumer, e kafka.Event) error { r.rebalance(e); return nil }
	if err := r.client.SubscribeTopics(r.sub.Topics, callback); err != nil {
		return err
	}
	r.tellGroup()
	for wait := 0; r.ctx.Err() == nil && r.fetcher.err == nil; {
		r.answerDeliveries()
		r.doWhatIsDue(time.Now())
		switch e := r.client.Poll(wait).(type) {
		case nil:
			wait = r.pollWait()
		case *kafka.Message:
			r.accept(e)
		case kafka.PartitionEOF:
			r.reachedEnd(e)
		case *kafka.Stats:
			r.group.statistics(e.String())
			r.tellGroup()
		case kafka.Error:
			r.clientError(e)
		case kafka.OAuthBearerTokenRefresh:
			r.clientError(kafka.NewError(kafka.ErrAuthentication,
				"sasl.oauthbearer.method=default needs the application's help: use oidc", false))
		}
	}
	return r.fetcher.err
}

// pollWait is how many milliseconds a poll may wait for a record: few while a partition
// waits for the polling goroutine, which nothing else can wake.
func (r *run) pollWait() int {
	for _, p := range r.partitions.all {
		if p.cursor.State == intake.TakingOver || p.cursor.State == intake.Reading && p.paused {
			return 5
		}
	}
	return 50
}

// doWhatIsDue does what is due by the clock.
func (r *run) doWhatIsDue(now time.Time) {
	if r.committer.due(now, r.commit) {
		r.commitDurable()
	}
	if r.partitions.endsDue(now) {
		r.tellEnds()
	}
	for len(r.comparison.found) > 0 {
		r.applyFindings(<-r.comparison.found)
	}
	if r.comparison.due(now) {
		r.compare(now)
	}
}

// answerDeliveries does what deliveries asked for since the last poll.
func (r *run) answerDeliveries() {
	select {
	case <-r.intake.Reported:
		if toRead := r.applyReports(); len(toRead) > 0 {
			r.fetcher.read(toRead, false)
		}
	default:
	}
}

// applyReports brings partitions to the states that their deliveries reported, and returns
// those that the client must be told to read.
func (r *run) applyReports() (toRead []*partition) {
	for _, p := range r.partitions.all {
		if report, ok := p.delivery.Report(); ok {
			if p.cursor.Apply(report) {
				toRead = append(toRead, p)
				continue
			}
			r.fetcher.pause(p)
		}
		if p.cursor.IsRead() && p.paused && !p.delivery.Queue.Paused() {
			r.fetcher.resume(p)
		}
	}
	return toRead
}

// accept puts a record into its partition's queue.
func (r *run) accept(m *kafka.Message) {
	if err := m.TopicPartition.Error; err != nil {
		if e, ok := err.(kafka.Error); ok {
			r.clientError(e)
		}
		return
	}
	p := r.partitions.find(m.TopicPartition)
	if p == nil {
		return // given up
	}
	message, size := record(p.delivery.Partition, m)
	switch p.cursor.Accept(&message, size) {
	case intake.Accepted:
		p.silence.heard()
	case intake.Full:
		p.silence.heard()
		if !p.paused && p.delivery.Queue.Throttle(r.partitions.starved) {
			r.fetcher.pause(p)
		}
	case intake.Arrived:
		r.recordArrived(p)
	case intake.OldEpoch:
		r.log.Warn("the leader epoch went down", "topic", message.Topic, "partition", message.Partition,
			"offset", message.Offset, "epoch", message.LeaderEpoch, "before", p.cursor.Epoch)
		p.delivery.TakeOverAgain()
	}
}

// reachedEnd notes that the client has read a partition to its end.
func (r *run) reachedEnd(e kafka.PartitionEOF) {
	p := r.partitions.find(kafka.TopicPartition(e))
	if p != nil && p.cursor.ReachedEnd(int64(e.Offset)) == intake.Arrived {
		r.recordArrived(p)
	}
}

func (r *run) recordArrived(p *partition) {
	r.fetcher.pause(p)
	p.delivery.RecordArrived()
}
