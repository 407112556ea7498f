package franz

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/idemgen/idemgen/runtime/idem"
)

// group is this process as a member of its group. The client calls its callbacks on its own
// goroutines; each waits until the polling goroutine has handled the event.
type group struct {
	client *kgo.Client
	events chan event
	left   chan struct{} // closed when events are no longer handled
}

// event is a change of the assignment of partitions.
type event struct {
	list     []idem.Partition
	assigned bool          // to this member; otherwise they were revoked
	lost     bool          // they may have another owner
	refused  error         // why this process could not join, or is no longer a member; nil in other events
	done     chan struct{} // to be closed when the event has been handled
}

func newGroup() *group { return &group{events: make(chan event), left: make(chan struct{})} }

// join makes a client join the group. The client does not consume what it is assigned.
func (g *group) join(options []kgo.Opt, sub idem.Subscription) (err error) {
	tell := func(assigned, lost bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, of map[string][]int32) {
			g.tell(event{list: partitionsOf(of), assigned: assigned, lost: lost, done: make(chan struct{})})
		}
	}
	nothing := func(context.Context, map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		return nil, nil
	}
	options = append(options[:len(options):len(options)],
		kgo.ConsumerGroup(sub.Group), kgo.ConsumeTopics(sub.Topics...), kgo.DisableAutoCommit(), kgo.AdjustFetchOffsetsFn(nothing),
		kgo.OnPartitionsAssigned(tell(true, false)), kgo.OnPartitionsRevoked(tell(false, false)), kgo.OnPartitionsLost(tell(false, true)))
	if most := sub.MaxPollInterval; most > 0 {
		options = append(options, kgo.RebalanceTimeout(most))
	}
	if g.client, err = kgo.NewClient(options...); err == nil {
		go g.watch()
	}
	return err
}

// tell sends an event, and waits until the polling goroutine has handled it, or has left.
func (g *group) tell(e event) {
	select {
	case g.events <- e:
	case <-g.left:
		return
	}
	select {
	case <-e.done:
	case <-g.left:
	}
}

// watch reports the errors of the group until the client is closed.
func (g *group) watch() {
	for {
		fetches := g.client.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		if of, ok := errors.AsType[*kgo.ErrGroupSession](fetches.Err0()); ok {
			g.tell(event{refused: of.Err, done: make(chan struct{})})
		}
	}
}

// leave leaves the group. If its coordinator is down, the group notices at the session timeout.
func (g *group) leave() {
	close(g.left)
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	_ = g.client.LeaveGroupContext(ctx) // which the client logs
	g.client.Close()
}

// leaveTime is how long a member tries to leave the group.
const leaveTime = 5 * time.Second

func partitionsOf(of map[string][]int32) (list []idem.Partition) {
	for topic, numbers := range of {
		for _, n := range numbers {
			list = append(list, idem.Partition{Topic: topic, Number: n})
		}
	}
	return list
}
