package member_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/internal/member"
	"github.com/idemgen/idemgen/runtime/wire"
)

// quietBrokers are brokers in memory and a client of theirs, which notes what it is told to do.
type quietBrokers struct {
	mu        sync.Mutex
	topics    map[string]intake.Topic
	low, high map[idem.Partition]int64
	ends      map[idem.Partition]int64 // with open transactions, if that is more than high
	fetched   map[idem.Partition]int64 // the ends that the client knows
	epochEnd  int64
	holder    string
	fails     map[string]error // calls, by their names
	hold      chan struct{}    // Topics waits until it is closed, unless it is nil
	asked     int              // calls of Topics
	calls     []string
	commits   []map[idem.Partition]idem.Commit
	ended     [][]int32                // partitions of each query for the ends of several logs
	windows   map[string]time.Duration // of keys, by topic
	configs   []string                 // topics whose configuration was queried
	waits     func(call string)        // is called in Commit and Close, unless it is nil
}

// did notes a call of the client, and returns its error.
func (b *quietBrokers) did(call string, about ...any) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, strings.TrimSpace(call+" "+fmt.Sprint(about...)))
	return b.fails[call]
}

// done returns the calls of the client since the last time.
func (b *quietBrokers) done() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// set changes the brokers.
func (b *quietBrokers) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func at(a member.At) string { return fmt.Sprintf("%d@%d", a.Partition.Number, a.Offset) }

func (b *quietBrokers) Assign(list []member.At) error {
	var all []string
	for _, a := range list {
		all = append(all, at(a))
	}
	slices.Sort(all)
	return b.did("Assign", all)
}

func (b *quietBrokers) Seek(a member.At) error         { return b.did("Seek", at(a)) }
func (b *quietBrokers) Pause(id idem.Partition) error  { return b.did("Pause", id.Number) }
func (b *quietBrokers) Resume(id idem.Partition) error { return b.did("Resume", id.Number) }

func (b *quietBrokers) Close() error {
	b.wait("Close")
	return b.did("Close")
}

// wait takes as long as the test says.
func (b *quietBrokers) wait(call string) {
	b.mu.Lock()
	waits := b.waits
	b.mu.Unlock()
	if waits != nil {
		waits(call)
	}
}

func (b *quietBrokers) Unassign(list []idem.Partition) error {
	var all []int32
	for _, id := range list {
		all = append(all, id.Number)
	}
	slices.Sort(all)
	return b.did("Unassign", all)
}

func (b *quietBrokers) End(id idem.Partition) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if end, ok := b.fetched[id]; ok {
		return end
	}
	return -1
}

func (b *quietBrokers) Commit(_ context.Context, offsets map[idem.Partition]idem.Commit) error {
	b.wait("Commit")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commits = append(b.commits, offsets)
	return b.fails["Commit"]
}

func (b *quietBrokers) Committed(_ context.Context, topic string, numbers []int32) (map[int32]idem.Commit, error) {
	of := map[int32]idem.Commit{}
	for _, n := range numbers {
		of[n] = idem.Commit{Offset: 10 + int64(n), Metadata: topic}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return of, b.fails["Committed"]
}

func (b *quietBrokers) Topics(ctx context.Context, _ ...string) (map[string]intake.Topic, error) {
	b.mu.Lock()
	b.asked++
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.topics), b.fails["Topics"]
}

func (b *quietBrokers) Watermarks(_ context.Context, id idem.Partition) (low, high int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.low[id], b.high[id], b.fails["Watermarks"]
}

func (b *quietBrokers) EpochEnd(context.Context, idem.Partition, idem.Position) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.epochEnd, b.fails["EpochEnd"]
}

func (b *quietBrokers) Last(_ context.Context, id idem.Partition) (idem.Position, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return idem.Position{Offset: b.high[id] - 1}, nil
}

func (b *quietBrokers) Ends(_ context.Context, list []idem.Partition) (map[idem.Partition]int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, numbers := map[idem.Partition]int64{}, []int32{}
	for _, id := range list {
		all[id] = max(b.ends[id], b.high[id])
		numbers = append(numbers, id.Number)
	}
	slices.Sort(numbers)
	b.ended = append(b.ended, numbers)
	return all, b.fails["Ends"]
}

func (b *quietBrokers) OpenTransaction(context.Context, idem.Partition) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holder
}

func (b *quietBrokers) TopicConfig(_ context.Context, topic string) (map[string]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.configs = append(b.configs, topic)
	return nil, b.fails["TopicConfig"]
}

// heeding is a sink that keeps what it is told of the group, and since when a log ends where it
// does.
type heeding struct {
	*fakeSink
	whys     []error
	since    []endSince
	silences []string     // what it is told of silent partitions
	idle     atomic.Int64 // where the log ended at the last call of Idle
	revoked  *idem.Commit // what Revoked returns, unless it is nil
}

type endSince struct {
	partition int32
	end       int64
	after     time.Time
}

func (h *heeding) Revoked(id idem.Partition) idem.Commit {
	durable := h.fakeSink.Revoked(id)
	if h.revoked != nil {
		durable = *h.revoked
	}
	return durable
}

func (h *heeding) Idle(ctx context.Context, id idem.Partition, end int64) error {
	h.idle.Store(end)
	return h.fakeSink.Idle(ctx, id, end)
}

func (h *heeding) Silent(id idem.Partition, since time.Time, why string) {
	h.fakeSink.Silent(id, since, why)
	h.silences = append(h.silences, fmt.Sprintf("%d since %s: %s", id.Number, since.Format("15:04:05"), why))
}

func (h *heeding) End(id idem.Partition, end int64, after time.Time) {
	h.fakeSink.End(id, end, after)
	h.since = append(h.since, endSince{id.Number, end, after})
}

func (h *heeding) Group(why error) {
	h.fakeSink.Group(why)
	h.whys = append(h.whys, why)
}

// solo is a member that a test polls, with its brokers and its sink.
type solo struct {
	*member.Member
	b    *quietBrokers
	t    *testing.T
	sink *heeding
	log  *testLog
}

var (
	first  = idem.Partition{Topic: topicName}
	second = idem.Partition{Topic: topicName, Number: 1}
)

// pollsMember runs a test of a member of a group that reads a topic of two partitions, at the
// usual pace, in time of its own.
func pollsMember(t *testing.T, test func(t *testing.T, p *solo)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &quietBrokers{
			topics: map[string]intake.Topic{topicName: {ID: wire.UUID{1}, Partitions: 2}},
			low:    map[idem.Partition]int64{}, high: map[idem.Partition]int64{}, ends: map[idem.Partition]int64{},
			fetched: map[idem.Partition]int64{}, fails: map[string]error{},
		}
		sink := &heeding{fakeSink: newSink(t, newLedger())}
		log := &testLog{}
		sub := subscription()
		sub.Window = func(topic string) time.Duration { return b.windows[topic] }
		m := member.New(t.Context(), member.Config{
			Subscription: sub, Sink: sink, Client: b, Log: textLogger(log), Brokers: "b:9092", Session: "45 s", FetchBytes: 1 << 20,
		})
		t.Cleanup(func() { _ = m.Leave() })
		test(t, &solo{Member: m, b: b, t: t, sink: sink, log: log})
	})
}

// pollsMemberIn is [pollsMember] in a test of its own.
func pollsMemberIn(t *testing.T, name string, test func(t *testing.T, p *solo)) {
	t.Run(name, func(t *testing.T) { pollsMember(t, test) })
}

// assigns assigns partitions. The next poll hears that they were taken over, and none before.
func (p *solo) assigns(list ...idem.Partition) {
	hold := make(chan struct{})
	p.b.set(func() { p.b.hold = hold })
	p.Assign(list)
	p.b.set(func() { p.b.hold = nil })
	close(hold)
	synctest.Wait()
}

// polls does what is due between polls, for a time.
func (p *solo) polls(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		p.DoWhatIsDue(time.Now())
		time.Sleep(p.PollWait())
		synctest.Wait()
	}
}

// calls checks what the client was told to do since the last time.
func (p *solo) does(when string, want ...string) {
	p.t.Helper()
	if got := p.b.done(); !slices.Equal(got, want) {
		p.t.Errorf("%s, the client was told %q, want %q", when, got, want)
	}
}

// tells checks what the sink was told of the group last, and how often it was told something.
func (p *solo) tells(when string, times int, want string) {
	p.t.Helper()
	if got := p.sink.changes(); len(got) != times || got[len(got)-1] != want {
		p.t.Errorf("%s, the sink was told %q, want %q as number %d", when, got, want, times)
	}
}
