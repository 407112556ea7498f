package member_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A password that the brokers refuse is reported as the cause, and later timeouts, which follow
// from it, do not replace it.
func TestWrongPasswordStaysTheCause(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1, kfake.EnableSASL(), kfake.Superuser("PLAIN", "ann", "right"))
		cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			answer := r.ResponseKind().(*kmsg.SASLAuthenticateResponse) // as Kafka's; kfake just hangs up
			answer.ErrorCode, answer.ErrorMessage = kerr.SaslAuthenticationFailed.Code, kmsg.StringPtr("Authentication failed: Invalid username or password")
			return answer, nil, true
		})
		sink := newSink(t, newLedger())
		s := open(t, brokers, k)
		s.login = login{mechanism: "PLAIN", user: "ann", password: "wrong"}
		s.pace.Request = time.Second
		start(t, s, subscription(), sink)
		refused := func() bool { return strings.Contains(strings.ToLower(sink.stands()), "authentication") }
		eventually(t, "the cause", func() bool { return sink.knows() && refused() })
		since := len(sink.changes())
		time.Sleep(4 * time.Second) // several questions
		if changes := sink.changes(); len(changes) > since || since > 3 {
			t.Errorf("told %q", changes)
		}
		if strings.Contains(strings.Join(sink.changes(), ""), "wrong") {
			t.Error("the password is told")
		}
	})
}

// While a broker is away, its cause is reported once: timeouts and refused connections do not
// alternate.
func TestBrokerThatIsAwayIsToldWithOneCause(t *testing.T) {
	withBoth(t, func(t *testing.T, k kind) {
		cluster, brokers := startCluster(t, 1)
		sink := newSink(t, newLedger())
		s := open(t, brokers, k)
		s.pace.Request = 500 * time.Millisecond
		start(t, s, subscription(), sink)
		eventually(t, "the group is joined", func() bool { return sink.knows() && sink.stands() == "<nil>" })
		cluster.Close()
		refused := func() bool {
			return strings.HasPrefix(sink.stands(), "no broker of ") && strings.Contains(strings.ToLower(sink.stands()), "refused")
		}
		eventually(t, "the cause", refused)
		told := len(sink.changes())
		time.Sleep(5 * time.Second) // several questions, and connections
		if changes := sink.changes(); len(changes) > told {
			t.Errorf("told %q", changes)
		}
	})
}
