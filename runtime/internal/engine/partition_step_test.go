package engine

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/notify"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// in returns a partition in a state, and its owner.
func in(state protocol.State) (*Partition, *Owner) {
	p := &Partition{
		process: &Process{Log: slog.New(slog.DiscardHandler), Service: &wire.Service{Consumer: "c"}, Hooks: &notify.Hooks{}},
		id:      idemtype.Partition{Topic: "t", Number: 3}, state: state,
	}
	p.owner = &Owner{p: p, chain: &chain.Chain{}, keys: &keys.Memory{}, life: newLife()}
	return p, p.owner
}

// A step that discards the memory ends the owner, with the reason of the step; and if that has
// none, because the partition was given up. Such an owner takes no more steps.
func TestDiscardedOwnerSaysWhy(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for _, test := range []struct {
		from, to protocol.State
		event    protocol.Event
		why      error
	}{
		{protocol.Sent, protocol.Halted, protocol.Fatal, away},
		{protocol.Ready, protocol.Fencing, protocol.Gone, away},
		{protocol.Ready, protocol.Standby, protocol.Foreign, away},
		{protocol.Ready, protocol.Off, protocol.Revoked, nil},
		{protocol.Backoff, protocol.Off, protocol.Revoked, nil},
	} {
		p, o := in(test.from)
		p.status.since, p.status.call, p.status.effect = time.Now(), away, away
		memory, err := p.next(o, test.event, test.why)
		if memory != protocol.Discard || err != nil || p.State() != test.to || p.current() != nil {
			t.Errorf("%v, %v: %v, %v, %v", test.from, test.event, memory, err, p.State())
		}
		if p.status.call != nil || p.status.effect != nil || !p.status.since.IsZero() {
			t.Errorf("%v, %v: what the owner waited for is still told", test.from, test.event)
		}
		want := test.why
		if want == nil {
			fenced, ok := errors.AsType[*idemtype.FencedError](o.ended())
			if !ok || fenced.Reason != givenUp || fenced.Partition != p.id {
				t.Errorf("%v, %v: ended by %v", test.from, test.event, o.ended())
			}
			want = o.ended()
		}
		if _, why := p.at(); why != test.why {
			t.Errorf("%v, %v: Health is told %v", test.from, test.event, why)
		}
		if o.ended() != want || o.life.whole.Err() == nil || o.life.quit.Err() == nil {
			t.Errorf("%v, %v: ended by %v, want %v", test.from, test.event, o.ended(), want)
		}
		if memory, err := p.next(o, protocol.Due, nil); memory != protocol.Discard || err != want || p.State() != test.to {
			t.Errorf("%v, %v: it took another step: %v, %v, %v", test.from, test.event, memory, err, p.State())
		}
	}
}

// A step that keeps the memory keeps the owner. A batch in flight, and the end of a pause, do not
// change what is told of the partition; the batch's end does.
func TestStepThatKeepsTheMemoryKeepsTheOwner(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for _, test := range []struct {
		from, to protocol.State
		event    protocol.Event
		why      error
		memory   protocol.Memory
		told     error
	}{
		{protocol.Ready, protocol.Sent, protocol.Due, nil, protocol.Keep, away},
		{protocol.Doubt, protocol.Sent, protocol.Connected, nil, protocol.Keep, away},
		{protocol.Backoff, protocol.Ready, protocol.Rested, nil, protocol.Keep, away},
		{protocol.Sent, protocol.Ready, protocol.Acked, nil, protocol.Forward, nil},
		{protocol.Sent, protocol.Backoff, protocol.Resource, errors.ErrUnsupported, protocol.Keep, errors.ErrUnsupported},
	} {
		p, o := in(test.from)
		p.status.why, p.status.since = away, time.Now()
		memory, err := p.next(o, test.event, test.why)
		if memory != test.memory || err != nil || p.State() != test.to || p.current() != o || o.life.whole.Err() != nil || p.status.since.IsZero() {
			t.Errorf("%v, %v: %v, %v, %v", test.from, test.event, memory, err, p.State())
		}
		if _, why := p.at(); why != test.told {
			t.Errorf("%v, %v: told %v, want %v", test.from, test.event, why, test.told)
		}
	}
}

// A step that the protocol does not have halts the partition, and says which one it was.
func TestStepThatDoesNotExistHalts(t *testing.T) {
	t.Parallel()
	p, o := in(protocol.Ready)
	memory, err := p.next(o, protocol.Acked, nil)
	h, ok := errors.AsType[*idemtype.HaltedError](err)
	if memory != protocol.Discard || !ok || h.Code != halt.Runtime || h.Offset != -1 || h.Partition != p.id ||
		h.Reason != `state READY does not allow "acked": please report it` {
		t.Errorf("got %v, %v", memory, err)
	}
	if p.State() != protocol.Halted || p.current() != nil || o.ended() != err {
		t.Errorf("the partition is %v, and its owner ended by %v", p.State(), o.ended())
	}
}

// A halt names the ways that end it, for its partition. A refused record may be passed.
func TestHaltNamesItsPartition(t *testing.T) {
	t.Parallel()
	p, _ := in(protocol.Ready)
	for _, test := range []struct {
		halt verdict.Halt
		ways int
	}{
		{verdict.Halt{Code: halt.Runtime, Offset: 5}, 1},
		{verdict.Halt{Code: halt.RecordRefused, Offset: 5}, 2},
		{verdict.Halt{Code: halt.RecordRefused, Offset: 0}, 2},
		{verdict.Halt{Code: halt.LetterRefused, Offset: 5}, 2},
		{verdict.Halt{Code: halt.RecordRefused, Offset: -1}, 1},
		{verdict.Halt{Code: halt.Database, Offset: 5}, 1},
		{verdict.Halt{Code: halt.Database, Offset: 5, Pass: true}, 2},
		{verdict.Halt{Code: halt.Handler, Offset: 5, Pass: true}, 1},
		{verdict.Halt{Code: halt.Runtime, Offset: 5, Ways: make([]halt.Way, 2)}, 2},
	} {
		test.halt.Reason, test.halt.Err = "r", errors.ErrUnsupported
		err := p.halted(&test.halt)
		if err.Partition != p.id || err.Offset != test.halt.Offset || err.Code != test.halt.Code || err.Reason != "r" || err.Err != errors.ErrUnsupported {
			t.Errorf("%+v: %+v", test.halt, err)
		}
		if len(err.Ways) != test.ways {
			t.Errorf("%+v: %d ways, want %d", test.halt, len(err.Ways), test.ways)
		}
		for _, w := range err.Ways {
			if w.Code != test.halt.Code || w.Consumer != "c" || w.Topic != "t" || w.Partition != 3 {
				t.Errorf("%+v: %+v", test.halt, w)
			}
		}
	}
}
