package franz

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/franz/internal/clientlog"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/member"
)

// run is one Source.Run. Only the polling goroutine uses it.
type run struct {
	ctx    context.Context // of Run
	log    *clientlog.Log
	fetch  *fetcher
	state  *clientlog.Connections
	group  *group
	member *member.Member
}

// client implements member.Client with both clients.
type client struct {
	*fetcher
	*broker
	*group
}

func (c client) Close() error {
	c.fetcher.client.Close()
	c.group.leave()
	return nil
}

func newRun(ctx, alive context.Context, s *Source, set *settings, sub idem.Subscription, sink idem.Sink) (*run, error) {
	logger := s.Logger
	if logger == nil {
		logger = slog.Default()
	}
	r := &run{ctx: ctx, log: clientlog.New(logger), state: &clientlog.Connections{}, group: newGroup()}
	options := append(set.all, kgo.WithContext(alive), kgo.WithLogger(r.log), kgo.WithHooks(r.state))
	fetch, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	r.fetch = newFetcher(fetch)
	if err := r.group.join(options, sub); err != nil {
		fetch.Close()
		return nil, err
	}
	asker := &broker{
		group: r.group.client, fetch: fetch, name: sub.Group, state: r.state,
		timeout: member.PaceOf(ctx).Request, ids: map[string]idem.UUID{},
	}
	r.member = member.New(ctx, member.Config{
		Subscription: sub, Sink: sink, Client: client{r.fetch, asker, r.group}, Log: logger,
		Brokers: s.Brokers, Session: set.session, FetchBytes: fetchBytes,
	})
	return r, nil
}

// poll polls until ctx ends.
func (r *run) poll() {
	r.member.Begin()
	for waited := false; !r.member.Ended(); {
		r.member.DoWhatIsDue(time.Now())
		r.answerGroup()
		most := 1
		if !waited {
			most = chunk(r.fetch.client.BufferedFetchRecords(), r.fetch.client.BufferedFetchBytes())
		}
		full := r.accept(r.fetched(most))
		waited = full != nil && r.member.Throttle(full)
	}
}

// fetched returns records that the client holds. If it holds none, fetched waits for one: the size
// of those that arrive with it is not known before the next poll.
func (r *run) fetched(most int) kgo.Fetches {
	var atOnce context.Context // nil: the client does not wait, which would take a timer
	if f := r.fetch.client.PollRecords(atOnce, most); len(f) > 0 {
		return f
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.member.PollWait())
	defer cancel()
	return r.fetch.client.PollRecords(ctx, 1)
}

// mostRecords is how many records are polled at a time, at most: between polls the member does
// what is due.
const mostRecords = 100

// chunk returns how many records are polled at a time if the client holds so many, with so many
// bytes. On average they have no more bytes than a usual fetch of one partition, whatever Options
// make the client fetch: that is by how much a poll may overrun a full queue.
func chunk(held, bytes int64) int {
	return int(max(1, min(mostRecords, fetchBytes*held/max(1, bytes))))
}

// answerGroup handles the events of the group since the last poll.
func (r *run) answerGroup() {
	if cause, down := r.state.AllDown(); down {
		r.member.BrokerFailed(cause)
		r.member.AllBrokersDown()
	}
	select {
	case e := <-r.group.events:
		switch {
		case e.refused != nil:
			r.member.JoinFailed(e.refused)
		case e.assigned:
			r.member.Assign(e.list)
		case e.lost || len(e.list) > 0: // at the end of a session there may be no partitions
			r.member.Revoke(e.list, e.lost)
		}
		close(e.done)
	default:
	}
}

// accept handles the polled records. It returns a partition whose queue is full.
func (r *run) accept(fetched kgo.Fetches) (full *member.Partition) {
	for _, f := range fetched {
		for _, t := range f.Topics {
			for i := range t.Partitions {
				if p := r.member.Find(t.Topic, t.Partitions[i].Partition); p == nil {
					r.clientError(t.Topic, t.Partitions[i].Err)
				} else if r.acceptPartition(p, &t.Partitions[i]) {
					full = p
				}
			}
		}
	}
	return full
}

// acceptPartition handles the records of one partition, and reports the end of its log. The client
// also delivers transaction markers, so there are only gaps between a record and the end. Records
// in front of an error, such as a corrupt batch, are good.
func (r *run) acceptPartition(p *member.Partition, f *kgo.FetchPartition) (full bool) {
	switch {
	case len(f.Records) == 0 && f.Err != nil:
	case p.Misses(f.LogStartOffset): // the client continued at the beginning of the log
		r.lose(p)
		return false
	case len(f.Records) == 0:
		return false
	}
	topic := p.ID().Topic
	for _, rec := range f.Records {
		if rec.Attrs.IsControl() {
			continue
		}
		message, size := record(topic, rec)
		full = r.member.Accept(p, &message, size) || full
	}
	if f.Err != nil {
		r.clientError(p.ID().Topic, f.Err)
		r.lose(p)
		return full
	}
	r.fetch.ends[p.ID()] = f.HighWatermark
	end := f.HighWatermark
	if f.LastStableOffset >= 0 {
		end = min(end, f.LastStableOffset)
	}
	if next := f.Records[len(f.Records)-1].Offset + 1; next >= end {
		r.member.ReachedEnd(p, next)
	}
	return full
}

// lose stops fetching a partition whose position, or log, is in doubt. The partition is compared
// with its log, and then read again from its position, or taken over again.
func (r *run) lose(p *member.Partition) {
	r.fetch.client.RemoveConsumePartitions(one(p.ID()))
	r.member.PositionLost(p)
}

// clientError logs an error after which the client retries. The end of a poll is not an error.
func (r *run) clientError(topic string, err error) {
	if err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed) {
		return
	}
	r.log.Log(kgo.LogLevelWarn, "a fetch failed", "topic", topic, "err", err)
}
