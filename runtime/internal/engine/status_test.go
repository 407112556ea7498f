package engine

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Health names the effect for which a partition waits too long, and no other.
func TestHealthNamesTheEffectThatIsWaitedFor(t *testing.T) {
	p := &Partition{process: &Process{Service: &wire.Service{Limits: wire.Limits{BatchTimeout: time.Second}}}, state: protocol.Ready}
	p.waiting(true)
	p.awaiting(&awaited{17, "effect UserCreated"})
	if err := p.Health(time.Now().Add(time.Second)); err != nil {
		t.Errorf("early: %v", err)
	}
	later := time.Now().Add(3 * time.Second)
	if is := p.Health(later); is == nil || is.Code != "waiting" || !strings.Contains(is.Reason, "offset 17 is waiting for effect UserCreated") {
		t.Errorf("late: %v", is)
	}
	p.awaiting(nil)
	if is := p.Health(later); is == nil || strings.Contains(is.Reason, "effect") {
		t.Errorf("of no effect: %v", is)
	}
}

// That calls of effects go well says nothing of what else keeps a partition from its work.
func TestCallsThatGoWellHideNoOutage(t *testing.T) {
	away := errors.New("the database is away")
	for _, c := range []struct{ why, call, want error }{{away, nil, away}, {nil, away, away}, {away, errors.New("no answer"), away}, {nil, nil, nil}} {
		p := &Partition{process: &Process{Log: slog.New(slog.DiscardHandler), Service: &wire.Service{}}, state: protocol.Ready}
		o := &Owner{p: p}
		p.owner = o
		p.tell(o, c.why)
		o.tellCalls(c.call)
		is := p.Health(time.Now())
		if (is == nil) != (c.want == nil) || is != nil && (!errors.Is(is.Err, c.want) || time.Since(is.Since) > time.Minute) {
			t.Errorf("%v, %v: %v", c.why, c.call, is)
		}
	}
}

// A halted partition that is looked at again stays what it was: a paused one fails no rollout.
func TestHaltedPartitionThatIsLookedAtAgainIsHalted(t *testing.T) {
	why := &idemtype.HaltedError{Code: halt.Paused, Reason: "paused by ann", Ways: []halt.Way{{}}}
	for _, state := range []protocol.State{protocol.Halted, protocol.Fencing} {
		p := &Partition{process: &Process{Service: &wire.Service{}}, state: state, status: status{why: why}}
		is := p.Health(time.Now())
		if is == nil || is.Code != string(halt.Paused) || p.Shown() != halt.Paused.State() {
			t.Errorf("%v: shown as %s, %+v", state, p.Shown(), is)
		} else if err := (idemtype.Problems{*is}).Err(); err != nil {
			t.Errorf("%v: %v", state, err)
		}
	}
}
