package member_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/idemgen/idemgen/runtime/idem"
)

// TestFailedQueryOfTheCommittedOffset: if the group's committed offset cannot be queried, the sink
// gets an error, not the offset of a group that has committed nothing, and the take-over is
// retried.
func TestFailedQueryOfTheCommittedOffset(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		for name, fault := range map[string]kfake.Fault{
			"of the partition":                 {Err: kerr.TopicAuthorizationFailed},
			"in a response without partitions": {Err: kerr.GroupAuthorizationFailed, TopLevel: true},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cluster, brokers := startCluster(t, 2)
				produce(t, brokers, 100, 0, 1)
				commit(t, brokers, 80)
				fault.Keys, fault.Count = []kmsg.Key{kmsg.OffsetFetch}, -1
				handle := cluster.Fault(fault)
				l := newLedger()
				sink := newSink(t, l)
				var mu sync.Mutex
				failed := 0
				sink.assign = func(ctx context.Context, a idem.Assignment) (idem.Position, error) {
					c, err := a.Committed(ctx)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err != nil:
						if failed++; failed == 3 {
							handle.Remove()
						}
						return idem.Position{}, fmt.Errorf("query the committed offset: %w", err)
					case failed < 3:
						t.Errorf("the query failed, and the sink got offset %d", c.Offset)
					case c.Offset != 80:
						t.Errorf("the sink got offset %d, want 80", c.Offset)
					}
					return idem.Position{Offset: c.Offset, Epoch: -1}, nil
				}
				start(t, open(t, brokers, k), subscription(), sink)
				eventually(t, "20 records of each partition", func() bool { return l.count() == 40 })
			})
		}
	})
}
