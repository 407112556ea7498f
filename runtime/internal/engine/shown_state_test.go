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

// A state is logged when it changes, as an error if the partition makes no progress. A halt and a
// take-over that only count further are logged once, and a look at a halted partition not at all.
func TestStateIsLoggedWhenItChanges(t *testing.T) {
	var lines strings.Builder
	p := &Partition{process: &Process{Service: &wire.Service{}, Log: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.LevelKey || a.Key == "state" || a.Key == "reason" {
			return a
		}
		return slog.Attr{}
	}}))}}
	away, quiet := errors.New("away"), errors.New("no answer")
	fenced := func(reason string) error { return &idemtype.FencedError{Reason: reason} }
	halted := func(code halt.Code, reason string) error {
		return &idemtype.HaltedError{Code: code, Reason: reason, Ways: []halt.Way{{}}}
	}
	const off, fencing, ready, sent, doubt, standby, backoff, stands = protocol.Off, protocol.Fencing, protocol.Ready, protocol.Sent, protocol.Doubt, protocol.Standby, protocol.Backoff, protocol.Halted
	for n, step := range []struct {
		from, to protocol.State
		why      error
		call     error // why calls make no progress
		again    bool  // it is looked at again
		want     string
	}{
		{off, off, nil, nil, false, ""},
		{off, fencing, nil, nil, false, "INFO FENCING"},
		{fencing, ready, nil, nil, false, "INFO READY"},
		{ready, sent, nil, nil, false, ""},
		{sent, backoff, away, nil, false, "ERROR BACKOFF away"},
		{backoff, backoff, away, nil, false, ""},
		{backoff, backoff, errors.New("away for 1 s"), nil, false, "ERROR BACKOFF away for 1 s"},
		{backoff, backoff, errors.New("away for 2 s"), nil, false, "ERROR BACKOFF away for 2 s"},
		{backoff, ready, nil, nil, false, "INFO READY"},
		{ready, ready, nil, quiet, false, "ERROR READY no answer"},
		{ready, ready, nil, nil, false, "INFO READY"},
		{ready, sent, nil, quiet, false, "ERROR READY no answer"},
		{sent, doubt, nil, quiet, false, "INFO DOUBT"},
		{doubt, fencing, errors.New("try 1"), nil, false, "ERROR FENCING try 1"},
		{fencing, fencing, errors.New("try 2"), nil, false, ""},
		{fencing, standby, fenced("another owner"), nil, false, "ERROR STANDBY"},
		{standby, fencing, away, nil, true, ""},
		{standby, fencing, away, nil, false, "INFO FENCING"},
		{fencing, standby, fenced(operatorActed), nil, false, "INFO STANDBY"},
		{standby, ready, nil, nil, false, "INFO READY"},
		{ready, stands, halted(halt.Handler, "offset 7"), nil, false, "ERROR HALTED"},
		{stands, fencing, nil, nil, true, ""},
		{fencing, stands, halted(halt.Handler, "offset 8"), nil, false, ""},
		{stands, fencing, away, nil, false, "INFO FENCING"},
		{fencing, stands, halted(halt.Paused, "paused by ann"), nil, false, "INFO PAUSED"},
		{stands, off, nil, nil, false, "INFO OFF"},
	} {
		lines.Reset()
		before := p.status.changed
		p.standby.again, p.status.call = step.again, step.call
		p.show(step.from, step.to, step.why)
		got := strings.NewReplacer("level=", "", "state=", "", "reason=", "", `"`, "", "\n", "").Replace(lines.String())
		if !strings.HasPrefix(got, step.want) || (got == "") != (step.want == "") || len(strings.Fields(step.want)) > 2 && got != step.want {
			t.Errorf("step %d: logged %q, want %q", n, got, step.want)
		}
		if strings.Contains(step.want, "INFO") && step.why == nil && got != step.want {
			t.Errorf("step %d: logged %q, want %q", n, got, step.want)
		}
		if p.status.why != step.why || (step.want != "") && !p.status.changed.After(before) {
			t.Errorf("step %d: %v is why, changed %t", n, p.status.why, p.status.changed.After(before))
		}
	}
}

// What is noted of a partition is shown, of its owner only, and ends with it.
func TestWhatIsNotedIsShown(t *testing.T) {
	p := &Partition{process: &Process{Service: &wire.Service{Limits: wire.Limits{BatchTimeout: time.Second}}, Log: slog.New(slog.DiscardHandler)}, state: protocol.Ready}
	owner, other := &Owner{p: p}, &Owner{p: p}
	p.owner = owner
	late := time.Now().Add(time.Minute)
	for n, step := range []struct {
		note func()
		code string
		says string
	}{
		{func() {}, "", ""},
		{func() { other.tellLater(errors.New("x")) }, "", ""},
		{func() { other.tellEffect(errors.New("x")) }, "", ""},
		{func() { owner.tellLater(errors.New("no connection")) }, "retrying", "RETRYING: no connection"},
		{func() { p.tell(owner, nil) }, "", ""},
		{func() { owner.tellEffect(errors.New("a lease")) }, "ready", "READY: a lease"},
		{func() { owner.tellCalls(errors.New("a store")) }, "ready", "READY: a store"},
		{func() { owner.tellCalls(nil); owner.tellEffect(nil) }, "", ""},
		{func() { p.overtime("Paid") }, "handler-running", "handler Paid is still running"},
		{func() { p.overtime("") }, "", ""},
		{func() { p.Silent(time.Now(), "it is silent") }, "silent", "it is silent"},
		{func() { p.Silent(time.Time{}, "") }, "", ""},
		{func() { p.progressed() }, "", ""}, // nothing waits
		{func() { p.waiting(true) }, "waiting", "the oldest delivered record"},
		{func() { p.status.since = late; p.progressed() }, "waiting", "waiting for 1m0s"},
		{func() { p.waiting(false) }, "", ""},
	} {
		step.note()
		is := p.Health(late)
		if (is == nil) != (step.code == "") || is != nil && (is.Code != step.code || !strings.Contains(is.Err.Error(), step.says)) {
			t.Errorf("step %d: %+v, want %s", n, is, step.code)
		}
	}
}
