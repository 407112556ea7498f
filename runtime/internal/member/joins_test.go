package member_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// If a coordinator refuses a process, the sink is told its error. With group.protocol=consumer,
// confluent ends instead, with that error.
func TestRefusedJoinIsReported(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		for words, code := range map[string]*kerr.Error{
			"group authorization failed": kerr.GroupAuthorizationFailed,
			"max":                        kerr.GroupMaxSizeReached,
		} {
			t.Run(code.Message, func(t *testing.T) {
				t.Parallel()
				cluster, brokers := startCluster(t, 1)
				cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup, kmsg.ConsumerGroupHeartbeat}, Err: code, Count: -1})
				sink := newSink(t, newLedger())
				if k.name == "confluent" && k.protocol == kip848 {
					err := open(t, brokers, k).Run(t.Context(), subscription(), sink)
					if err == nil || !strings.Contains(strings.ToLower(err.Error()), words) {
						t.Error(err)
					}
					return
				}
				start(t, open(t, brokers, k), subscription(), sink)
				eventually(t, "the cause is told", func() bool { return sink.knows() && strings.Contains(plainly(sink.stands()), words) })
			})
		}
	})
}

// With brokers that do not support group.protocol=consumer, confluent reports that, and franz-go
// joins the group by the classic protocol.
func TestBrokersWithoutGroupProtocolConsumer(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		k.protocol = kip848
		_, brokers := startCluster(t, 1, kfake.MaxVersions(kversion.V3_6_0()))
		sink := newSink(t, newLedger())
		start(t, open(t, brokers, k), subscription(), sink)
		if k.name == "confluent" {
			eventually(t, "it is told", func() bool {
				return sink.knows() && strings.HasSuffix(sink.stands(), "do not support group.protocol=consumer")
			})
			return
		}
		eventually(t, "the group is joined", func() bool { return sink.owns() == 1 })
	})
}
