package member_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/refusal"
)

const joins = "the group has not assigned its partitions yet; if a member died without leaving (kill -9), the group waits until that member's session ends, at most 45 s"

// The sink is told at once that no broker responds, and why, once for an outage. Whether that is
// over is asked soon, and the next outage has a cause of its own.
func TestBrokersThatAreDownAreToldAtOnce(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Begin()
		p.tells("at first", 1, joins)
		p.Begin()
		p.Shared()
		p.Shared()
		p.tells("once it is a member", 2, "<nil>")
		p.BrokerFailed(errors.New("connection refused"))
		p.tells("after one broker has failed", 2, "<nil>")
		if p.Unreachable() {
			t.Error("one broker that fails is no outage")
		}
		p.b.fails["Topics"] = errors.New("timeout")
		p.AllBrokersDown()
		p.tells("after all brokers have failed", 3, "no broker of b:9092 responds: connection refused")
		if !p.Unreachable() {
			t.Error("all brokers are down, and that is no outage")
		}
		asked := p.b.asked
		p.polls(100 * time.Millisecond)
		if p.b.asked != asked+1 {
			t.Errorf("the brokers were asked %d times at once", p.b.asked-asked)
		}
		p.polls(3 * time.Second)
		if n := p.b.asked - asked; n < 5 || n > 14 { // every 250 ms
			t.Errorf("the brokers were asked %d times in 3 s", n)
		}
		p.AllBrokersDown()
		p.tells("while it lasts", 3, "no broker of b:9092 responds: connection refused")
		p.b.set(func() { delete(p.b.fails, "Topics") })
		p.polls(time.Second)
		p.tells("when it is over", 4, "<nil>")
		if p.Unreachable() {
			t.Error("the outage is over, and lasts")
		}
		p.AllBrokersDown()
		p.tells("in another outage", 5, "no broker of b:9092 responds: all are down")
	})
}

// What brokers answered to a question from before an alarm says nothing of the time after it.
func TestAnswerFromBeforeAnAlarmEndsNoOutage(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Shared()
		p.BrokerFailed(errors.New("connection refused"))
		p.b.hold = make(chan struct{})
		p.polls(6 * time.Second) // a comparison has begun
		p.AllBrokersDown()
		p.b.set(func() { close(p.b.hold); p.b.hold = nil })
		synctest.Wait()
		p.DoWhatIsDue(time.Now())
		p.tells("after an old answer", 2, "no broker of b:9092 responds: connection refused")
		p.AllBrokersDown()
		p.tells("in the same outage", 2, "no broker of b:9092 responds: connection refused")
		p.polls(time.Second)
		p.tells("after a new answer", 3, "<nil>")
	})
}

// Of an outage the most specific cause is told, and of several such ones the first.
func TestMostSpecificCauseIsTold(t *testing.T) {
	denied := func(code, text string) error { return &refusal.Denied{Code: code, Cause: text} }
	const down, refused = "no broker of b:9092 responds: ", "no connection to the brokers b:9092: "
	for name, test := range map[string]struct {
		failed []error // of brokers
		topics error   // of the question that follows
		code   string
		want   string
	}{
		"nothing is known":              {nil, nil, refusal.Unavailable, down + "all are down"},
		"the first":                     {[]error{errors.New("a"), errors.New("b")}, nil, refusal.Unavailable, down + "a"},
		"more than an end of file":      {[]error{refusal.Later, errors.New("a")}, nil, refusal.Unavailable, down + "a"},
		"an end of file":                {[]error{refusal.Later}, errors.New("timeout"), refusal.Unavailable, down + refusal.Later.Error()},
		"an end of file in SASL":        {[]error{refusal.InSASL}, nil, refusal.Credentials, refused + refusal.InSASL.Error()},
		"no end of file after it":       {[]error{errors.New("a"), refusal.InSASL}, nil, refusal.Unavailable, down + "a"},
		"a password":                    {[]error{errors.New("a"), refusal.InHandshake, denied(refusal.Credentials, "rejected")}, nil, refusal.Credentials, refused + "rejected"},
		"a certificate":                 {[]error{denied(refusal.TLS, "untrusted"), denied(refusal.Credentials, "rejected")}, nil, refusal.TLS, refused + "untrusted"},
		"a password, after a question":  {[]error{errors.New("a")}, denied(refusal.Credentials, "rejected"), refusal.Credentials, refused + "rejected"},
		"a question that is unanswered": {nil, errors.New("timeout"), refusal.Unavailable, down + "timeout"},
		"a broker that does not listen": {[]error{errors.New("a")}, errors.New("timeout"), refusal.Unavailable, down + "a"},
	} {
		t.Run(name, func(t *testing.T) {
			pollsMember(t, func(t *testing.T, p *solo) {
				p.Shared()
				for _, err := range test.failed {
					p.BrokerFailed(err)
				}
				if test.topics == nil {
					p.AllBrokersDown()
				} else {
					p.b.fails["Topics"] = test.topics
					p.polls(6 * time.Second)
				}
				p.tells("then", 2, test.want)
				why, ok := errors.AsType[*outage.Reason](p.sink.whys[1])
				if !ok || why.Code != test.code || why.Do != refusal.Advice(test.code) || why.Waits {
					t.Errorf("told %+v", why)
				}
			})
		})
	}
}

// A member that the group has forgotten waits for the group again, and one that gives partitions
// up does not.
func TestForgottenMemberIsTold(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Begin()
		waits, ok := errors.AsType[*outage.Reason](p.sink.whys[0])
		if !ok || !waits.Waits || waits.Do != outage.JoinAdvice || waits.Code != "joining" {
			t.Errorf("told %+v", waits)
		}
		p.Revoke(nil, true)
		p.tells("before it was a member", 1, joins)
		p.Assign([]idem.Partition{first})
		p.tells("as a member", 2, "<nil>")
		p.Revoke([]idem.Partition{first}, false)
		p.tells("without partitions", 2, "<nil>")
		p.Revoke(nil, true)
		p.tells("forgotten", 3, "the group no longer knows this member, which is rejoining")
		p.AllBrokersDown()
		p.tells("in an outage", 4, "no broker of b:9092 responds: all are down")
		p.Shared()
		p.tells("in an outage", 4, "no broker of b:9092 responds: all are down")
	})
}

// Why a process cannot join its group is reported until it has joined.
func TestFailedJoinIsReportedUntilItSucceeds(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		p.Begin()
		p.JoinFailed(errors.New("denied"))
		p.tells("refused", 2, "the group has not assigned its partitions yet: denied")
		waits, ok := errors.AsType[*outage.Reason](p.sink.whys[1])
		if !ok || !waits.Waits || waits.Do == outage.JoinAdvice || waits.Do == "" || waits.Code != "joining" {
			t.Errorf("told %+v", waits)
		}
		p.Shared()
		p.JoinFailed(errors.New("full"))
		p.tells("as a member", 3, "<nil>")
		p.Revoke(nil, true)
		p.tells("forgotten", 4, "the group no longer knows this member, which is rejoining")
		p.JoinFailed(errors.New("fenced"))
		p.tells("refused again", 5, "the group no longer knows this member, which is rejoining: fenced")
	})
}

// A topic that does not exist is told like brokers that do not respond, until it exists.
func TestMissingTopicIsToldWhileItIsMissing(t *testing.T) {
	pollsMember(t, func(t *testing.T, p *solo) {
		topics := p.b.topics
		p.b.topics = nil
		p.Shared()
		p.polls(6 * time.Second)
		p.tells("without the topic", 2, "topic "+topicName+" does not exist")
		why, ok := errors.AsType[*outage.Reason](p.sink.whys[1])
		if !ok || why.Code != "topic-missing" || why.Waits || why.Do != "create the topic, or correct its name in the spec; the runtime waits until it exists" {
			t.Errorf("told %+v", why)
		}
		p.b.set(func() { p.b.topics = topics })
		p.polls(6 * time.Second)
		p.tells("with the topic", 3, "<nil>")
	})
}
