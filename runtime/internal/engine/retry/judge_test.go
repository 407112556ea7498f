package retry

import (
	"errors"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

var policy = &wire.FailurePolicy{Retries: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Second}

func batch(offsets ...int64) []wire.Message {
	var all []wire.Message
	for _, o := range offsets {
		all = append(all, wire.Message{Offset: o})
	}
	return all
}

var refused = verdict.Verdict{Fault: verdict.Record, Err: errors.New("refused")}

// A batch that fails because of data is halved, the left half first, until one record is left:
// that one becomes a dead letter, and the others go on in batches of their old size.
func TestSearchEndsAtOneRecord(t *testing.T) {
	s := New()
	all := batch(10, 11, 12, 13)
	for _, n := range []int{4, 2, 1} {
		if got := s.Size(len(all)); got != n {
			t.Fatalf("%d records are sent, want %d", got, n)
		}
		next := s.Next(all[:n], refused, About{Policy: policy})
		if next.Halt != nil || next.Later != nil || next.Event != protocol.Data || next.Search != (n == 4) {
			t.Fatalf("%d records: %+v", n, next)
		}
	}
	if _, ok := s.Refused()[10]; !ok || len(s.Refused()) != 1 {
		t.Fatalf("refused: %v, want offset 10", s.Refused())
	}
	s.Passed(1)
	if s.Advanced(11); len(s.Refused()) != 0 || s.Size(3) != 3 {
		t.Errorf("behind it %d are refused, and %d of 3 are sent", len(s.Refused()), s.Size(3))
	}
}

// A record whose dead letter is refused, too, is a halt: another letter would hide the cause.
func TestRecordThatIsRefusedTwiceHalts(t *testing.T) {
	s := New()
	s.Next(batch(7), refused, About{Policy: policy})
	next := s.Next(batch(7), refused, About{Policy: policy})
	if next.Halt == nil || next.Halt.Code != halt.LetterRefused || next.Halt.Offset != 7 {
		t.Errorf("%+v", next)
	}
}

// A handler's record is called again as often as on_failure says, and then given up. What
// stands before it goes first.
func TestFailedCallIsRetriedThenGivenUp(t *testing.T) {
	s, records := New(), batch(20, 21, 22)
	call := &wire.Call{Event: "Paid", Message: &records[2], Policy: policy}
	failed := verdict.Judge(&verdict.HandlerError{Call: call, Err: errors.New("no")}, len(records))
	for try := 1; try <= policy.Retries; try++ {
		if next := s.Next(records, failed, About{}); next.Later == nil || next.Later.After <= 0 {
			t.Fatalf("try %d: %+v", try, next)
		}
		if n := s.Size(3); n != 2 {
			t.Fatalf("%d records go first, want 2", n)
		}
		if n := s.Attempt(22); n != try+1 {
			t.Errorf("the next call is number %d, want %d", n, try+1)
		}
	}
	if next := s.Next(records, failed, About{}); next.Later != nil || next.Halt != nil || !next.Search {
		t.Errorf("the last try: %+v", next)
	}
	if l := s.Refused()[22]; l.Event != "Paid" || l.Reason != "handler: Paid: no" {
		t.Errorf("the letter is %+v", l)
	}
}

// A pause that the handler asks for does not count.
func TestPauseThatIsAskedForDoesNotCount(t *testing.T) {
	s, records := New(), batch(5)
	call := &wire.Call{Event: "Paid", Message: &records[0], Policy: policy}
	asked := verdict.Judge(&verdict.HandlerError{Call: call, Err: verdict.RetryAfter(time.Minute, errors.New("busy"))}, 1)
	for range 10 {
		if next := s.Next(records, asked, About{}); next.Later == nil || next.Later.After != time.Minute {
			t.Fatalf("%+v", next)
		}
	}
	if n := s.Attempt(5); n != 1 {
		t.Errorf("the next call is number %d, want 1", n)
	}
}

// A handler that asks for the usual pause gets it, also before anything is counted.
func TestUsualPauseIsAskedFor(t *testing.T) {
	c := count{}
	for range 10 {
		after, again := c.again(5, &wire.FailurePolicy{InitialBackoff: time.Second, MaxBackoff: time.Minute}, verdict.RetryAfter(-1, refusal()))
		if !again || after < time.Second/2 || after > time.Second {
			t.Errorf("%t, after %v", again, after)
		}
	}
	if after, again := c.again(5, policy, verdict.RetryAfter(0, refusal())); !again || after != 0 || c.failed != 0 {
		t.Errorf("%t, after %v, %d are counted", again, after, c.failed)
	}
}

// Statements that do not fit the schema are prepared again once; if they do not fit then, a
// person must act. An acknowledgement in between begins the count again.
func TestStatementsArePreparedAnewOnce(t *testing.T) {
	s := New()
	stale := verdict.Verdict{Fault: verdict.Plans, Event: protocol.Conflict, Err: errors.New("stale")}
	for _, halts := range []bool{false, true} {
		if next := s.Next(batch(1, 2), stale, About{}); (next.Halt != nil) != halts {
			t.Errorf("halts %v, want %v", next.Halt != nil, halts)
		}
	}
	s.Advanced(2)
	if next := s.Next(batch(2), stale, About{Policy: policy}); next.Halt != nil {
		t.Errorf("behind an acknowledgement: %+v", next)
	}
}

// The pauses of a record grow from the first one to the longest, and one that is asked for without
// a time is as long as the last.
func TestPausesOfARecordGrow(t *testing.T) {
	var c count
	p := &wire.FailurePolicy{Retries: 9, InitialBackoff: time.Millisecond, MaxBackoff: 100 * time.Millisecond}
	within := func(what string, after, most time.Duration) {
		t.Helper()
		if after < most/2 || after > most {
			t.Errorf("%s: a pause of %v, want %v or down to half of it", what, after, most)
		}
	}
	for n := range 9 {
		after, again := c.again(5, p, refusal())
		if within("a failure", after, min(time.Millisecond<<n, p.MaxBackoff)); !again {
			t.Errorf("failure %d is the last", n+1)
		}
		after, _ = c.again(5, p, verdict.RetryAfter(-1, refusal()))
		within("the usual pause", after, min(time.Millisecond<<n, p.MaxBackoff))
	}
	if _, again := c.again(5, p, refusal()); again {
		t.Error("it is tried more often than the policy says")
	}
}
