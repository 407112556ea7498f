package member_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

func TestPartitionsMoveBetweenMembers(t *testing.T) { withEach(t, partitionsMoveBetweenMembers) }

func partitionsMoveBetweenMembers(t *testing.T, k kind) { partitionsMoveBetween(t, k, k) }

func partitionsMoveBetween(t *testing.T, k, other kind) {
	_, brokers := startCluster(t, 4)
	l := newLedger()
	first, second := newSink(t, l), newSink(t, l)
	start(t, open(t, brokers, k), subscription(), first)
	eventually(t, "the first member owns all", func() bool { return first.owns() == 4 })
	produce(t, brokers, 1000, 0, 1, 2, 3)

	stop := start(t, open(t, brokers, other), subscription(), second)
	eventually(t, "two partitions each", func() bool { return first.owns() == 2 && second.owns() == 2 })
	if n := first.seen("Revoked"); n != 2 {
		t.Errorf("%d partitions were revoked from the first member, want 2: the others go on", n)
	}
	produce(t, brokers, 1000, 0, 1, 2, 3)
	eventually(t, "8000 records", func() bool { return l.count() >= 8000 })

	if err := stop(); err != nil {
		t.Error(err)
	}
	eventually(t, "the first member owns all again", func() bool { return first.owns() == 4 })
	produce(t, brokers, 1000, 0, 1, 2, 3)
	eventually(t, "12000 records", func() bool { return l.count() >= 12000 })
	complete(t, l, 3000, 0, 1, 2, 3)
}

// A group may have members with different clients, as while a service goes from one to the other.
func TestMembersOfDifferentClientsShareAGroup(t *testing.T) {
	t.Parallel()
	if len(clients) < 2 {
		t.Skip("there is one client without cgo")
	}
	for _, protocol := range []string{classic, kip848} {
		for _, c := range [][2]client{{clients[0], clients[1]}, {clients[1], clients[0]}} {
			t.Run(protocol+"/"+c[0].name, func(t *testing.T) {
				t.Parallel()
				partitionsMoveBetween(t, kind{c[0], protocol}, kind{c[1], protocol})
			})
		}
	}
}

// The client keeps a partition's pause over a reassignment.
func TestPausedPartitionFlowsAfterItComesBack(t *testing.T) {
	withEach(t, pausedPartitionFlowsAfterItComesBack)
}

func pausedPartitionFlowsAfterItComesBack(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 3000, 0, 1)
	l := newLedger()
	first, second := newSink(t, l), newSink(t, l)
	var slow atomic.Bool
	slow.Store(true)
	wait := func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
		for slow.Load() {
			if !sleep(ctx, 10*time.Millisecond) {
				return ctx.Err()
			}
		}
		return nil
	}
	first.before, second.before = wait, wait
	sub := subscription()
	sub.BatchBytes = 1000
	start(t, open(t, brokers, k), sub, first)
	eventually(t, "both owned", func() bool { return first.owns() == 2 })
	time.Sleep(4 * intake.MaxRoomWaits * intake.RoomWait) // both queues are full, both partitions paused
	s := open(t, brokers, k)
	stop := start(t, s, sub, second)
	eventually(t, "one each", func() bool { return second.owns() == 1 })
	if err := stop(); err != nil {
		t.Error(err)
	}
	eventually(t, "both owned again", func() bool { return first.owns() == 2 })
	slow.Store(false)
	eventually(t, "6000 records", func() bool { return l.count() >= 6000 })
	complete(t, l, 3000, 0, 1)
}

func TestSlowDeliveryDoesNotLoseTheGroup(t *testing.T) {
	withEach(t, slowDeliveryDoesNotLoseTheGroup)
}

func slowDeliveryDoesNotLoseTheGroup(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 3000, 0, 1)
	l := newLedger()
	sink := newSink(t, l)
	var slept atomic.Bool
	sink.before = func(_ context.Context, p idem.Partition, _ []idem.Message) error {
		if p.Number == 0 && !slept.Swap(true) {
			time.Sleep(8 * time.Second)
		}
		return nil
	}
	sub := subscription()
	sub.MaxPollInterval = 6 * time.Second
	start(t, open(t, brokers, k), sub, sink)
	eventually(t, "the other partition's records", func() bool {
		return l.position(idem.Partition{Topic: topicName, Number: 1}) == 3000
	})
	if l.position(idem.Partition{Topic: topicName}) != 0 {
		t.Error("the slow partition was not slow")
	}
	eventually(t, "6000 records", func() bool { return l.count() >= 6000 })
	complete(t, l, 3000, 0, 1)
	if n := sink.seen("Revoked") + sink.seen("Lost"); n != 0 {
		t.Errorf("%d partitions were taken away while a batch took longer than max.poll.interval.ms", n)
	}
}

// A take-over that outlasts the callback is placed later, where the sink says: never at
// Kafka's committed offset.
func TestLateTakeOverIsPlacedWhereTheSinkSays(t *testing.T) {
	withEach(t, lateTakeOverIsPlacedWhereTheSinkSays)
}

func lateTakeOverIsPlacedWhereTheSinkSays(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 100, 0, 1)
	commit(t, brokers, 80)
	l := newLedger()
	sink := newSink(t, l)
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		time.Sleep(time.Duration(a.Partition.Number+1) * 700 * time.Millisecond)
		return idem.Position{Offset: 10, Epoch: -1}, nil
	}
	start(t, open(t, brokers, k), subscription(), sink)
	eventually(t, "90 records of each partition", func() bool { return l.count() >= 180 })
	for p, offsets := range l.offsets {
		if offsets[0] != 10 {
			t.Errorf("%v: first offset %d, want 10", p, offsets[0])
		}
	}
}

// A take-over that lasts, as one that waits for a frozen owner's transaction, holds up no other
// partition.
func TestSlowTakeOverHoldsUpNoOtherPartition(t *testing.T) {
	withEach(t, slowTakeOverHoldsUpNoOtherPartition)
}

func slowTakeOverHoldsUpNoOtherPartition(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 100, 0, 1)
	l := newLedger()
	sink := newSink(t, l)
	sink.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
		for end := time.Now().Add(5 * time.Second); a.Partition.Number == 1 && l.count() < 100 && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Error("the other partition waits for this one")
				break
			}
		}
		return idem.Position{Epoch: -1}, nil
	}
	start(t, open(t, brokers, k), subscription(), sink)
	eventually(t, "200 records", func() bool { return l.count() >= 200 })
	complete(t, l, 100, 0, 1)
}

func TestTransientTakeOverErrorIsRetried(t *testing.T) {
	withEach(t, transientTakeOverErrorIsRetried)
}

func transientTakeOverErrorIsRetried(t *testing.T, k kind) {
	_, brokers := startCluster(t, 2)
	produce(t, brokers, 100, 0, 1)
	l := newLedger()
	sink := newSink(t, l)
	var tries atomic.Int64
	sink.assign = func(_ context.Context, a idem.Assignment) (idem.Position, error) {
		if a.Partition.Number == 1 && tries.Add(1) < 4 {
			return idem.Position{}, errors.New("the database is away")
		}
		return idem.Position{Epoch: -1}, nil
	}
	start(t, open(t, brokers, k), subscription(), sink)
	eventually(t, "200 records", func() bool { return l.count() >= 200 })
	complete(t, l, 100, 0, 1)
}

// A member that was thrown out has no say any more: no waiting, no commit.
func TestLostPartitionsAreNotCommitted(t *testing.T) {
	withEach(t, lostPartitionsAreNotCommitted)
}

func lostPartitionsAreNotCommitted(t *testing.T, k kind) {
	cluster, brokers := startCluster(t, 2)
	produce(t, brokers, 100, 0, 1)
	l := newLedger()
	sink := newSink(t, l)
	s := open(t, brokers, k)
	s.pace.Commit = time.Hour
	start(t, s, subscription(), sink)
	eventually(t, "200 records", func() bool { return l.count() >= 200 })
	var commits atomic.Int64
	cluster.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		commits.Add(1)
		return nil, nil, false
	})
	throwOut(cluster, k.protocol)
	eventually(t, "both partitions lost", func() bool { return sink.seen("Lost") == 2 })
	eventually(t, "both partitions again", func() bool { return sink.seen("Assigned") == 4 && sink.owns() == 2 })
	if n := commits.Load(); n != 0 {
		t.Errorf("%d commits for partitions that were lost", n)
	}
	produce(t, brokers, 100, 0, 1)
	eventually(t, "400 records", func() bool { return l.count() >= 400 })
	complete(t, l, 200, 0, 1)
}

// throwOut makes the broker answer one heartbeat as if the member were unknown.
func throwOut(cluster *kfake.Cluster, protocol string) {
	key := kmsg.Heartbeat
	if protocol == kip848 {
		key = kmsg.ConsumerGroupHeartbeat
	}
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.UnknownMemberID})
}

// A partition can come back while a Deliver of its last assignment still stands.
func TestNextTenureWaitsForTheLast(t *testing.T) { withEach(t, nextTenureWaitsForTheLast) }

func nextTenureWaitsForTheLast(t *testing.T, k kind) {
	cluster, brokers := startCluster(t, 1)
	produce(t, brokers, 100, 0)
	l := newLedger()
	sink := newSink(t, l)
	release := make(chan struct{})
	var stubborn atomic.Bool
	sink.before = func(context.Context, idem.Partition, []idem.Message) error {
		if !stubborn.Swap(true) {
			<-release
			return context.Canceled
		}
		return nil
	}
	s := open(t, brokers, k)
	s.pace.Request = 300 * time.Millisecond
	log := &testLog{}
	s.Logger = textLogger(log)
	start(t, s, subscription(), sink)
	eventually(t, "a delivery", stubborn.Load)
	throwOut(cluster, k.protocol)
	eventually(t, "the partition lost", func() bool { return sink.seen("Lost") == 1 })
	eventually(t, "the partition assigned again", func() bool {
		return strings.Count(log.String(), "partitions were assigned") == 2
	})
	time.Sleep(300 * time.Millisecond)
	if n := sink.seen("Assigned"); n != 1 {
		t.Errorf("taken over %d times while the first delivery still stands", n)
	}
	close(release)
	eventually(t, "100 records", func() bool { return l.count() == 100 })
}
