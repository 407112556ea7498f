package member_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/internal/kit/port"
	"github.com/idemgen/idemgen/runtime/idem"
)

func TestEveryRecordOnceInOrder(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 4)
		produce(t, brokers, 3000, 0, 1, 2, 3)
		l := newLedger()
		sink := newSink(t, l)
		sink.before = func(_ context.Context, _ idem.Partition, records []idem.Message) error {
			if n := len(records); n == 0 || n > 100 {
				t.Errorf("a batch of %d records; batch_events is 100", n)
			}
			return nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "12000 records", func() bool { return l.count() >= 12000 })
		complete(t, l, 3000, 0, 1, 2, 3)
	})
}

func TestRecordsAreKeptAsTheyAre(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		at := time.UnixMilli(1700000000123).UTC()
		produceRecords(t, brokers,
			&kgo.Record{Topic: topicName, Timestamp: at, Key: []byte("k"), Value: []byte("v"), Headers: []kgo.RecordHeader{
				{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte{}}, {Key: "b"},
			}},
			&kgo.Record{Topic: topicName, Timestamp: at, Key: []byte{}, Value: []byte{}},
			&kgo.Record{Topic: topicName, Timestamp: at})
		l := newLedger()
		l.keep = true
		start(t, open(t, brokers, k), subscription(), newSink(t, l))
		eventually(t, "3 records", func() bool { return l.count() == 3 })
		const want = `0 0 2023-11-14T22:13:20.123Z "k" "v" [a="1" a="" b=null]
1 0 2023-11-14T22:13:20.123Z "" "" []
2 0 2023-11-14T22:13:20.123Z null null []
`
		var got strings.Builder
		for _, m := range l.records {
			var headers []string
			for _, h := range m.Headers {
				headers = append(headers, h.Name+"="+quoted(h.Value))
			}
			fmt.Fprintln(&got, m.Offset, m.LeaderEpoch, m.Time.Format(time.RFC3339Nano), quoted(m.Key), quoted(m.Value), headers)
		}
		if got.String() != want {
			t.Errorf("got\n%swant\n%s", got.String(), want)
		}
	})
}

func quoted(b []byte) string {
	if b == nil {
		return "null"
	}
	return strconv.Quote(string(b))
}

func TestStartsWhereTheSinkSays(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		produce(t, brokers, 100, 0, 1)
		commit(t, brokers, 80)
		l := newLedger()
		sink := newSink(t, l)
		sink.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
			if committed, err := a.Committed(ctx); committed.Offset != 80 || err != nil {
				t.Errorf("the group's committed offset is %d, %v", committed.Offset, err)
			}
			if a.Low != 0 || a.High != 100 || a.Partitions != 2 || a.TopicID == (idem.UUID{}) {
				t.Errorf("the sink was told %+v", a)
			}
			return idem.Position{Offset: 30, Epoch: 0}, nil
		}
		start(t, open(t, brokers, k), subscription(), sink)
		eventually(t, "70 records of each partition", func() bool { return l.count() >= 140 })
		for p, offsets := range l.offsets {
			if offsets[0] != 30 {
				t.Errorf("%v: first offset %d, want 30", p, offsets[0])
			}
		}
	})
}

// commit commits an offset of both partitions for the group, as an earlier program did.
func commit(t *testing.T, brokers string, offset int64) {
	t.Helper()
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group = "orders"
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = topicName
	for n := range int32(2) {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = n, offset
		topic.Partitions = append(topic.Partitions, p)
	}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(t.Context(), asking(t, brokers))
	if err != nil || response.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(response, err)
	}
}

func committed(t *testing.T, brokers string, partition int32) int64 {
	t.Helper()
	offset, _ := commitOf(t, brokers, partition)
	return offset
}

// commitOf is what the group has committed; -1 and "" if nothing.
func commitOf(t *testing.T, brokers string, partition int32) (offset int64, metadata string) {
	t.Helper()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group = "orders"
	topic := kmsg.NewOffsetFetchRequestTopic()
	topic.Topic, topic.Partitions = topicName, []int32{partition}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(t.Context(), asking(t, brokers))
	if err != nil || len(response.Topics) == 0 {
		return -1, "" // the group does not exist yet
	}
	p := response.Topics[0].Partitions[0]
	if p.Metadata != nil {
		metadata = *p.Metadata
	}
	return p.Offset, metadata
}

// A commit is also made if only the metadata has changed. Commits that fail again and again are
// reported once.
func TestHintIsWhatIsDurable(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 250, 0)
		l := newLedger()
		sink, s, log := newSink(t, l), open(t, brokers, k), &testLog{}
		s.Logger = textLogger(log)
		stop := start(t, s, subscription(), sink)
		eventually(t, "a hint of 250 while running", func() bool { return committed(t, brokers, 0) == 250 })
		var refused []kfake.Fault
		for range 8 {
			refused = append(refused, kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.OffsetMetadataTooLarge})
		}
		cluster.Fault(refused...)
		sink.mu.Lock()
		sink.since = ", and a row"
		sink.mu.Unlock()
		eventually(t, "the metadata of 250", func() bool {
			_, metadata := commitOf(t, brokers, 0)
			return metadata == "at 250, and a row"
		})
		eventually(t, "the end of the failures", func() bool { return strings.Contains(log.String(), "offsets are committed again") })
		if n := strings.Count(log.String(), "level=WARN msg=\"the group's offsets have not been committed"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, log)
		}
		sink.mu.Lock()
		sink.since = ""
		sink.mu.Unlock()
		produce(t, brokers, 50, 0)
		eventually(t, "300 records", func() bool { return l.count() == 300 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got := committed(t, brokers, 0); got != 300 {
			t.Errorf("after the end the hint is %d, want 300", got)
		}
		again := newSink(t, l)
		known := make(chan idem.Commit, 1)
		again.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
			c, err := a.Committed(ctx)
			known <- c
			return idem.Position{Offset: 300, Epoch: -1}, err
		}
		start(t, open(t, brokers, k), subscription(), again)
		if c := <-known; c != (idem.Commit{Offset: 300, Metadata: "at 300"}) {
			t.Errorf("the group has committed %+v", c)
		}
	})
}

func TestWaitsForTheBroker(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		port, err := port.Free()
		if err != nil {
			t.Fatal(err)
		}
		l := newLedger()
		s := open(t, fmt.Sprintf("127.0.0.1:%d", port), k)
		log := &testLog{}
		s.Logger = textLogger(log)
		start(t, s, subscription(), newSink(t, l))
		eventually(t, "a line about the broker", func() bool { return strings.Contains(log.String(), s.Brokers) })
		_, brokers := startCluster(t, 1, kfake.Ports(port))
		produce(t, brokers, 10, 0)
		eventually(t, "10 records", func() bool { return l.count() == 10 })
	})
}

func TestEndsWhileTheBrokerIsAway(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		stop := start(t, open(t, "127.0.0.1:1", k), subscription(), newSink(t, newLedger()))
		time.Sleep(200 * time.Millisecond)
		begun := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("Run returned %v after its context's end", took)
		}
	})
}

func TestLeavesTheGroupAtOnce(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 4)
		produce(t, brokers, 10, 0, 1, 2, 3)
		l := newLedger()
		sink := newSink(t, l)
		leaves := open(t, brokers, k)
		leaves.session = time.Minute
		stop := start(t, leaves, subscription(), sink)
		eventually(t, "40 records", func() bool { return l.count() == 40 })
		begun := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("Run returned %v after its context's end", took)
		}
		if n := sink.seen("Revoked"); n != 4 {
			t.Errorf("%d partitions were revoked at the end, want 4", n)
		}
		second := newSink(t, l)
		begun = time.Now()
		start(t, open(t, brokers, k), subscription(), second)
		eventually(t, "the next member owns everything", func() bool { return second.owns() == 4 })
		if took := time.Since(begun); took > 30*time.Second { // the session would end after a minute
			t.Errorf("the next member waited %v", took)
		}
	})
}

func TestFinishesTheBatchBegun(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 1)
		produce(t, brokers, 100, 0)
		l := newLedger()
		sink := newSink(t, l)
		begun := make(chan struct{}, 10)
		sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
			begun <- struct{}{}
			select {
			case <-time.After(500 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		stop := start(t, open(t, brokers, k), subscription(), &patientSink{sink})
		<-begun
		if err := stop(); err != nil {
			t.Error(err)
		}
		if n := l.count(); n != 100 {
			t.Errorf("%d records are durable after the end, want the 100 of the batch begun", n)
		}
		if got := committed(t, brokers, 0); got != 100 {
			t.Errorf("the hint is %d, want 100", got)
		}
	})
}

// patientSink waits in Revoked for the transaction in flight, as the runtime does.
type patientSink struct{ *fakeSink }

func (s *patientSink) Revoked(p idem.Partition) idem.Commit {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		busy := s.busy[p] != ""
		s.mu.Unlock()
		if !busy {
			break
		}
	}
	return s.fakeSink.Revoked(p)
}

func TestMemoryOfQueuesIsBounded(t *testing.T) { // not beside others: it reads the size of the heap
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { memoryOfQueuesIsBounded(t, kind{c, classic}) })
	}
}

func memoryOfQueuesIsBounded(t *testing.T, k kind) {
	_, brokers := startCluster(t, 4)
	var records []*kgo.Record
	for p := range int32(4) {
		for range 4000 {
			records = append(records, &kgo.Record{Topic: topicName, Partition: p, Value: make([]byte, 4096)})
		}
	}
	produceRecords(t, brokers, records...)
	records = nil
	before := heap()
	release := make(chan struct{})
	l := newLedger()
	sink := newSink(t, l)
	sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	start(t, open(t, brokers, k), subscription(), sink)
	eventually(t, "all partitions deliver", func() bool {
		sink.mu.Lock()
		defer sink.mu.Unlock()
		n := 0
		for _, call := range sink.busy {
			if call == "Deliver" {
				n++
			}
		}
		return n == 4
	})
	time.Sleep(time.Second)
	// Per partition: 100 records of 4 KiB in delivery and 1 MiB in the queue.
	if grown := heap() - before; grown > 10<<20+k.memory {
		t.Errorf("the heap grew by %d KiB while nothing was applied", grown>>10)
	}
	close(release)
	eventually(t, "16000 records", func() bool { return l.count() == 16000 })
	complete(t, l, 4000, 0, 1, 2, 3)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
