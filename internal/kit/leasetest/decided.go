package leasetest

import (
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
)

// ends has a lease end in a state that a person may decide about, in a pause that lasts.
func (a *asker) ends(key byte, state lease.State) lease.Hold {
	a.Helper()
	h := a.hold(a.ask(1, key, long))
	a.equal("recorded", a.records(lease.End{Hold: h, State: state, Error: "why", Pause: long, Attempts: 3}), true)
	return h
}

// decides is an ask for a person's decision that was made after a lease.
func (a *asker) decides(n, key byte, behind lease.Hold, result []byte) lease.Ask {
	a.token++
	ask := a.ask(n, key, short)
	ask.Interrupts = true
	ask.Decision = lease.Decision{Number: behind.Token + 1, Result: result}
	if !a.draws {
		ask.Token = behind.Token + 2
		a.token = ask.Token
	}
	return ask
}

// A person's decision has the lease be had that failed or was interrupted, in its pause, too. Its
// calls count anew.
func callAgain(a *asker) {
	for key, state := range []lease.State{lease.Failed, lease.Interrupted} {
		before := a.ends(byte(key), state)
		ask := a.decides(2, byte(key), before, nil)
		got := a.acquire(ask)
		a.is("call again, "+string(state), got, lease.Answer{Got: true, State: lease.Processing, Content: content, Token: got.Token, Attempts: 1, Error: "why"})
		if got.Token <= ask.Decision.Number {
			a.Errorf("token %d for decision %d", got.Token, ask.Decision.Number)
		}
		end := lease.End{Hold: lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: got.Token}, State: lease.Done, Result: []byte("r"), Attempts: 1}
		a.equal("recorded by who was before", a.records(lease.End{Hold: before, State: lease.Done}), false)
		a.equal("recorded", a.records(end), true)
	}
	ask := a.ask(3, 9, long)
	ask.Decision.Number = ask.Token + 1
	a.equal("where nothing is known", a.acquire(ask).Got, true)
}

// A decision leads to one try: what became of that try is for another decision.
func onceDecided(a *asker) {
	ask := a.decides(2, 1, a.ends(1, lease.Interrupted), nil)
	got := a.acquire(ask)
	a.equal("got", got.Got, true)
	over()
	ask.Owner[0], ask.Token = 3, a.ask(3, 1, short).Token
	cut := a.acquire(ask)
	a.equal("cut off again", cut.State, lease.Interrupted)
	a.equal("the same decision", a.acquire(ask).State, lease.Interrupted)
	next := a.decides(4, 1, lease.Hold{Token: cut.Token}, nil)
	a.equal("another decision", a.acquire(next).Got, true)

	ask = a.decides(2, 2, a.ends(2, lease.Failed), nil)
	got = a.acquire(ask)
	a.records(lease.End{Hold: lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: got.Token}, State: lease.Failed, Error: "no", Pause: long, Attempts: 1})
	ask.Owner[0], ask.Token = 3, a.ask(3, 2, short).Token
	pausing := a.acquire(ask)
	a.is("in the pause of its own call", pausing, lease.Answer{State: lease.Failed, Content: content, Token: got.Token, Attempts: 1, Error: "no"})
	a.waits("in the pause of its own call", pausing, long-time.Minute, long)
}

// What a person decides about an event is not about another one that has its key.
func decidedForOthers(a *asker) {
	before := a.ends(1, lease.Interrupted)
	for _, result := range [][]byte{nil, []byte("r")} {
		ask := a.decides(2, 1, before, result)
		ask.Content.Print = 8
		a.is("other content", a.acquire(ask), lease.Answer{State: lease.Interrupted, Content: content, Token: before.Token, Attempts: 3, Error: "why"})
	}
}

// A person says what a call returned: nothing is called, and the result is kept as one that was
// recorded.
func wasDone(a *asker) {
	for key, state := range []lease.State{lease.Failed, lease.Interrupted} {
		before := a.ends(byte(key), state)
		ask := a.decides(2, byte(key), before, []byte("\x00 a result"))
		want := lease.Answer{State: lease.Done, Content: content, Attempts: 3, Result: []byte("\x00 a result")}
		for range 2 {
			got := a.acquire(ask)
			want.Token = got.Token
			a.is("it was done", got, want)
		}
		if want.Token <= before.Token {
			a.Errorf("token %d came after %d", want.Token, before.Token)
		}
		a.is("for another one", a.acquire(a.ask(3, byte(key), long)), want)
		a.equal("recorded by who was before", a.records(lease.End{Hold: before, State: state}), false)
	}
	ask := a.decides(2, 8, a.hold(a.ask(1, 7, long)), []byte("r"))
	got := a.acquire(ask)
	a.is("where nothing is known", got, lease.Answer{State: lease.Done, Content: content, Token: got.Token, Result: []byte("r")})
	crashed := a.hold(a.ask(1, 6, short))
	over()
	got = a.acquire(a.decides(2, 6, crashed, []byte("r")))
	a.is("where the holder is gone", got, lease.Answer{State: lease.Done, Content: content, Token: got.Token, Attempts: 1, Result: []byte("r")})
}

// What is held, and what is recorded, no decision changes.
func notToBeDecided(a *asker) {
	for key, result := range [][]byte{nil, []byte("theirs")} {
		held := a.hold(a.ask(1, byte(key), long))
		ask := a.decides(2, byte(key), held, result)
		a.is("held", a.acquire(ask), lease.Answer{State: lease.Processing, Content: content, Token: held.Token, Attempts: 1})
		a.records(lease.End{Hold: held, State: lease.Done, Result: []byte("r"), Attempts: 1})
		a.is("recorded", a.acquire(ask), lease.Answer{State: lease.Done, Content: content, Token: held.Token, Attempts: 1, Result: []byte("r")})
	}
}
