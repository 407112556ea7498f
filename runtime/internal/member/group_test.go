package member_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
)

// Whatever the coordinator answers, every record comes once and in order; commits that fail
// are nobody's concern.
func TestCoordinatorErrors(t *testing.T) {
	ofClassic := map[kmsg.Key][]*kerr.Error{
		kmsg.Heartbeat:    {kerr.NotCoordinator, kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress},
		kmsg.JoinGroup:    {kerr.NotCoordinator, kerr.CoordinatorLoadInProgress, kerr.UnknownMemberID},
		kmsg.SyncGroup:    {kerr.NotCoordinator, kerr.IllegalGeneration, kerr.RebalanceInProgress}, // a member that is not unknown would be waited for
		kmsg.OffsetCommit: {kerr.NotCoordinator, kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress},
	}
	ofConsumer := map[kmsg.Key][]*kerr.Error{
		kmsg.ConsumerGroupHeartbeat: {kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.UnknownMemberID, kerr.FencedMemberEpoch},
		kmsg.OffsetCommit:           {kerr.NotCoordinator, kerr.UnknownMemberID, kerr.StaleMemberEpoch},
	}
	for protocol, errors := range map[string]map[kmsg.Key][]*kerr.Error{classic: ofClassic, kip848: ofConsumer} {
		for key, list := range errors {
			t.Run(protocol+"/"+key.Name(), func(t *testing.T) {
				withBoth(t, func(t *testing.T, k kind) { coordinatorAnswers(t, kind{k.client, protocol}, key, list) })
			})
		}
	}
}

// coordinatorAnswers lets the coordinator fail, with one error after the other, while two
// members share the partitions.
func coordinatorAnswers(t *testing.T, k kind, key kmsg.Key, errors []*kerr.Error) {
	cluster, brokers := startCluster(t, 4)
	produce(t, brokers, 500, 0, 1, 2, 3)
	l := newLedger()
	first, second := newSink(t, l), newSink(t, l)
	start(t, open(t, brokers, k), subscription(), first)
	eventually(t, "2000 records", func() bool { return l.count() >= 2000 })
	var faults []kfake.Fault
	for _, e := range errors {
		faults = append(faults, kfake.Fault{Keys: []kmsg.Key{key}, Err: e})
	}
	failed := cluster.Fault(faults...)
	start(t, open(t, brokers, k), subscription(), second)
	produce(t, brokers, 500, 0, 1, 2, 3)
	eventually(t, "all errors were answered", func() bool { return failed.Hits() == len(errors) })
	eventually(t, "4000 records", func() bool { return l.count() >= 4000 })
	eventually(t, "two partitions each", func() bool { return first.owns() == 2 && second.owns() == 2 })
	produce(t, brokers, 500, 0, 1, 2, 3)
	eventually(t, "6000 records", func() bool { return l.count() >= 6000 })
	complete(t, l, 1500, 0, 1, 2, 3)
}

// A member that the coordinator does not hear goes on fetching, for good if the protocol is
// that of KIP-848: both members deliver, and only the ledger says who may. They do not take
// the partition from each other again and again.
func TestTwoLiveWritersOfWhichTheGroupKnowsOne(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		l := newLedger()
		first, second := newSink(t, l), newSink(t, l)
		s := open(t, brokers, k)
		if k.protocol == classic {
			s.instance = "unheard" // or it joins again under another id
		}
		startToFail(t, s, subscription(), first)
		eventually(t, "the first member owns it", func() bool { return first.owns() == 1 })
		produce(t, brokers, 100, 0)
		eventually(t, "100 records", func() bool { return l.count() == 100 })
		unheard(cluster, cluster.GroupInfo("orders").Members[0].MemberID)
		start(t, open(t, brokers, k), subscription(), second)
		eventually(t, "the second member owns it", func() bool { return second.owns() == 1 })
		for n := 200; n <= 1000; n += 100 {
			produce(t, brokers, 100, 0)
			eventually(t, "100 records more", func() bool { return l.count() == n })
		}
		complete(t, l, 1000, 0)
		if n := second.seen("Standby"); n > 1 {
			t.Errorf("the member that the group knows stood by %d times, want once at most", n)
		}
		if k.protocol == kip848 && first.seen("Standby") == 0 {
			t.Error("the member that the group does not hear was never refused: it did not deliver, which is what this test is about")
		}
	})
}

// unheard lets what a member says to its coordinator fail for good, so that its session ends.
func unheard(cluster *kfake.Cluster, member string) {
	of := func(r kmsg.Request) bool {
		switch r := r.(type) {
		case *kmsg.HeartbeatRequest:
			return r.MemberID == member
		case *kmsg.JoinGroupRequest:
			return r.InstanceID != nil
		case *kmsg.ConsumerGroupHeartbeatRequest:
			return r.MemberID == member
		}
		return false
	}
	cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.ConsumerGroupHeartbeat},
		Err:  kerr.NotCoordinator, Count: -1, When: of,
	})
}

// A polling goroutine that stands still for longer than max.poll.interval.ms has lost its
// partitions, with a client that does not watch it, when another member comes; it takes them over
// again when it goes on.
func TestPollIntervalExceeded(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 2)
		produce(t, brokers, 100, 0, 1)
		l := newLedger()
		sink := newSink(t, l)
		var stuck atomic.Bool
		release := make(chan struct{})
		sink.asked = func(idem.Partition) { // on the polling goroutine
			if stuck.Load() {
				<-release
			}
		}
		sub := subscription()
		sub.MaxPollInterval = session
		start(t, open(t, brokers, k), sub, sink)
		eventually(t, "200 records", func() bool { return l.count() == 200 })
		stuck.Store(true)
		if k.watched {
			eventually(t, "the member left the group", func() bool { return len(cluster.GroupInfo("orders").Members) == 0 })
		}
		second := newSink(t, l)
		start(t, open(t, brokers, k), sub, second)
		eventually(t, "another member owns all", func() bool { return second.owns() == 2 })
		produce(t, brokers, 100, 0, 1)
		eventually(t, "400 records", func() bool { return l.count() == 400 })
		stuck.Store(false)
		close(release)
		eventually(t, "the partitions are lost", func() bool {
			return sink.seen("Lost") == 2 || !k.watched && sink.seen("Lost")+sink.seen("Revoked") == 2
		})
		eventually(t, "one each", func() bool { return sink.owns() == 1 && second.owns() == 1 })
		produce(t, brokers, 100, 0, 1)
		eventually(t, "600 records", func() bool { return l.count() == 600 })
		complete(t, l, 300, 0, 1)
	})
}

// What the group is told to have been read is never more than what is durable.
func TestHintIsNeverAheadOfTheLedger(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		produce(t, brokers, 1000, 0)
		l := newLedger()
		p := idem.Partition{Topic: topicName}
		var ahead, commits atomic.Int64
		cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Count: -1, Observe: true, When: func(r kmsg.Request) bool {
			commits.Add(1)
			for _, t := range r.(*kmsg.OffsetCommitRequest).Topics {
				for _, c := range t.Partitions {
					ahead.Store(max(ahead.Load(), c.Offset-l.position(p)))
				}
			}
			return true
		}})
		sink := newSink(t, l)
		sink.before = func(ctx context.Context, _ idem.Partition, _ []idem.Message) error {
			sleep(ctx, 50*time.Millisecond)
			return ctx.Err()
		}
		s := open(t, brokers, k)
		s.pace.Commit = time.Millisecond
		stop := start(t, s, subscription(), sink)
		eventually(t, "500 records", func() bool { return l.count() >= 500 })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if ahead.Load() > 0 || commits.Load() < 5 {
			t.Errorf("%d commits, one %d offsets ahead of the ledger", commits.Load(), ahead.Load())
		}
	})
}
