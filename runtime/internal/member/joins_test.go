package member_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// refusesGroup answers the requests by which a client joins a group.
func refusesGroup(code int16) map[kmsg.Key]func(kmsg.Request) kmsg.Response {
	return map[kmsg.Key]func(kmsg.Request) kmsg.Response{
		kmsg.JoinGroup: func(r kmsg.Request) kmsg.Response {
			answer := r.ResponseKind().(*kmsg.JoinGroupResponse)
			answer.ErrorCode = code
			return answer
		},
		kmsg.ConsumerGroupHeartbeat: func(r kmsg.Request) kmsg.Response {
			answer := r.ResponseKind().(*kmsg.ConsumerGroupHeartbeatResponse)
			answer.ErrorCode = code
			return answer
		},
	}
}

// A group that does not take a member is told with the answer of its coordinator, until it does.
// With group.protocol=consumer, confluent ends at these answers, and its error has them.
func TestGroupThatRefusesAMemberIsTold(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		for name, of := range map[string]struct {
			code  *kerr.Error
			words string
		}{
			"no right": {kerr.GroupAuthorizationFailed, "group authorization failed"},
			"full":     {kerr.GroupMaxSizeReached, "max"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				sink := newSink(t, newLedger())
				s := open(t, secured{}.brokers(t, refusesGroup(of.code.Code)), k)
				ends := make(chan error, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() { ends <- s.Run(ctx, subscription(), sink) }()
				if k.name == "confluent" && k.protocol == kip848 {
					if err := <-ends; err == nil || !strings.Contains(strings.ToLower(err.Error()), of.words) {
						t.Error(err)
					}
					return
				}
				eventually(t, "the cause is told", func() bool { return sink.knows() && strings.Contains(plainly(sink.stands()), of.words) })
				cancel()
				<-ends
			})
		}
	})
}

// Brokers that do not know a way of sharing partitions out are told, or served in another way.
func TestBrokersWithoutTheProtocolOfAGroup(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		k.protocol = kip848
		sink := newSink(t, newLedger())
		start(t, open(t, secured{}.brokers(t, nil, kfake.MaxVersions(kversion.V3_6_0())), k), subscription(), sink)
		eventually(t, "it is told, or the group is joined", func() bool {
			if k.name == "confluent" {
				return sink.knows() && strings.HasSuffix(sink.stands(), "do not support group.protocol=consumer")
			}
			return sink.owns() == 1
		})
	})
}
