package leasetest

import "github.com/idemgen/idemgen/runtime/lease"

// A lease that nobody extends goes to the next one who asks. Its holder, who was asleep, can
// neither extend it nor record anything.
func ended(a *asker) {
	first := a.hold(a.ask(1, 1, short))
	over()
	got := a.acquire(a.ask(2, 1, long))
	if got.Token <= first.Token {
		a.Errorf("token %d came after %d", got.Token, first.Token)
	}
	a.is("the next one", got, lease.Answer{Got: true, State: lease.Processing, Content: content, Token: got.Token, Attempts: 2})
	second := lease.Hold{Key: first.Key, Owner: a.ask(2, 1, long).Owner, Token: got.Token}
	for _, state := range []lease.State{lease.Done, lease.Failed, lease.Interrupted} {
		a.equal("recorded by who was asleep", a.records(lease.End{Hold: first, State: state, Result: []byte("first")}), false)
	}
	a.equal("extended by who was asleep", a.extends(first), false)
	a.equal("recorded by the next one", a.records(lease.End{Hold: second, State: lease.Done, Result: []byte("second"), Attempts: 2}), true)
	a.equal("recorded by who was asleep", a.records(lease.End{Hold: first, State: lease.Done, Result: []byte("first")}), false)
	a.equal("the result", string(a.acquire(a.ask(3, 1, long)).Result), "second")
}

// With interrupts, a lease that nobody extends is nobody's: a person decides.
func interrupted(a *asker) {
	ask := a.ask(1, 1, short)
	ask.Interrupts = true
	first := a.hold(ask)
	over()
	got := a.acquire(a.ask(2, 1, short))
	if got.Error == "" {
		a.Error("it does not say why nobody knows what the call did")
	}
	if got.Token <= first.Token {
		a.Errorf("token %d came after %d", got.Token, first.Token)
	}
	want := lease.Answer{State: lease.Interrupted, Content: content, Token: got.Token, Attempts: 1, Error: got.Error}
	a.is("who asks first", got, want)
	over()
	a.is("who asks later", a.acquire(a.ask(3, 1, short)), want)
	a.equal("extended by who was asleep", a.extends(first), false)
	a.equal("recorded by who was asleep", a.records(lease.End{Hold: first, State: lease.Done}), false)
	a.is("nothing changed", a.acquire(a.ask(4, 1, short)), want)
}

// What becomes of a lease says the ask that got it, not the one that finds it over.
func whoseInterrupts(a *asker) {
	for key, interrupts := range []bool{false, true} {
		ask := a.ask(1, byte(key), short)
		ask.Interrupts = interrupts
		a.hold(ask)
		over()
		other := a.ask(2, byte(key), short)
		other.Interrupts = !interrupts
		a.equal("got by the next one", a.acquire(other).Got, !interrupts)
	}
}

// An event with other content under the same definition is no copy: it gets no lease of a call
// that may have done something, and is told whose the lease is.
func otherContent(a *asker) {
	h := a.hold(a.ask(1, 1, short))
	over()
	other := a.ask(2, 1, long)
	other.Content.Print = 8
	a.is("other content", a.acquire(other), lease.Answer{State: lease.Processing, Content: content, Token: h.Token, Attempts: 1})
	newer := a.ask(3, 1, long)
	newer.Content = lease.Content{Def: 2, Print: 1<<32 - 1}
	got := a.acquire(newer)
	a.is("another definition", got, lease.Answer{Got: true, State: lease.Processing, Content: newer.Content, Token: got.Token, Attempts: 2})
}

// A holder that says itself that nobody knows what its call did.
func byPeople(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	a.equal("recorded", a.records(lease.End{Hold: h, State: lease.Interrupted, Error: "cut off", Attempts: 1}), true)
	over()
	a.is("who asks later", a.acquire(a.ask(2, 1, long)),
		lease.Answer{State: lease.Interrupted, Content: content, Token: h.Token, Attempts: 1, Error: "cut off"})
}

// A store that draws no tokens gives no lease for one that does not grow.
func staleTokens(a *asker) {
	ask := a.ask(1, 1, short)
	ask.Token = 100
	a.hold(ask)
	over()
	for _, token := range []int64{9, 99, 100} {
		next := a.ask(2, 1, long)
		next.Token = token
		a.is("a token that does not grow", a.acquire(next), lease.Answer{State: lease.Processing, Content: content, Token: 100, Attempts: 1, Stale: true})
	}
	next := a.ask(2, 1, long)
	next.Token = 101
	a.is("one that does", a.acquire(next), lease.Answer{Got: true, State: lease.Processing, Content: content, Token: 101, Attempts: 2})
	late := a.ask(3, 1, long)
	late.Token = 5
	a.is("a lease that is held", a.acquire(late), lease.Answer{State: lease.Processing, Content: content, Token: 101, Attempts: 2})
}

// A store that draws tokens takes no notice of those that an Ask brings.
func drawnTokens(a *asker) {
	h := a.hold(a.ask(1, 1, short))
	over()
	next := a.ask(2, 1, long)
	next.Token = h.Token
	got := a.acquire(next)
	a.is("its own token", got, lease.Answer{Got: true, State: lease.Processing, Content: content, Token: got.Token, Attempts: 2})
	if got.Token <= h.Token {
		a.Errorf("token %d came after %d", got.Token, h.Token)
	}
}

// Tokens are whole numbers of 63 bits.
func bigTokens(a *asker) {
	ask := a.ask(1, 1, short)
	ask.Token = 1<<63 - 3
	h := a.hold(ask)
	a.equal("token", h.Token, ask.Token)
	a.equal("extended under the next token", a.extends(lease.Hold{Key: h.Key, Owner: h.Owner, Token: h.Token + 1}), false)
	over()
	next := a.ask(2, 1, long)
	next.Token = ask.Token + 1
	a.equal("the next token", a.acquire(next).Got, true)
}

// An ask whose answer was lost until the lease was over has it anew: no call was made under it,
// so that nothing was interrupted, and nothing counts.
func forgottenAsk(a *asker) {
	for key, interrupts := range []bool{false, true} {
		ask := a.ask(1, byte(key), short)
		ask.Interrupts = interrupts
		first := a.hold(ask)
		over()
		if !a.draws {
			a.equal("stale", a.acquire(ask).Stale, true)
			a.token++
			ask.Token = a.token
		}
		got := a.acquire(ask)
		a.is("the same ask", got, lease.Answer{Got: true, State: lease.Processing, Content: content, Token: got.Token, Attempts: 1})
		if got.Token <= first.Token {
			a.Errorf("token %d came after %d", got.Token, first.Token)
		}
	}
}
