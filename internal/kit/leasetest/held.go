package leasetest

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

var content = lease.Content{Def: 1, Print: 7}

// One of two owners gets a lease; the other one is told for how long.
func twoOwners(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	second := a.acquire(a.ask(2, 1, long))
	a.is("the second owner", second, lease.Answer{State: lease.Processing, Content: content, Token: h.Token, Attempts: 1})
	a.waits("the second owner", second, long-time.Minute, long)
	a.equal("the first one holds it", a.extends(h), true)
}

// A lock is a lease of all consumers that is given back by a failure without a pause: the next
// owner has it at once, with a greater token, and then only it can give it back.
func locks(a *asker) {
	a.consumer = lease.Locks("accounts")
	ask := func(owner byte) lease.Ask {
		l := a.ask(owner, 1, long)
		l.Content = lease.Content{}
		return l
	}
	first := a.hold(ask(1))
	a.equal("got by a second owner", a.acquire(ask(2)).Got, false)
	back := lease.End{Hold: first, State: lease.Failed}
	a.equal("given back", a.records(back), true)
	next := ask(3)
	got := a.acquire(next)
	a.is("the next owner", got, lease.Answer{Got: true, State: lease.Processing, Token: got.Token, Attempts: 1})
	if got.Token <= first.Token {
		a.Errorf("token %d came after %d", got.Token, first.Token)
	}
	a.equal("given back by who has it no more", a.records(back), false)
	a.equal("the next owner holds it", a.extends(lease.Hold{Key: next.Key, Owner: next.Owner, Token: got.Token}), true)
}

// Who asks the same again, because the answer was lost, gets the same answer, and nothing changes.
func lostAnswers(a *asker) {
	ask := a.ask(1, 1, long)
	h := a.hold(ask)
	again := a.acquire(ask)
	a.is("the same ask", again, lease.Answer{Got: true, State: lease.Processing, Content: content, Token: h.Token, Attempts: 1})
	for range 2 {
		a.equal("extended", a.extends(h), true)
	}

	end := lease.End{Hold: h, State: lease.Failed, Error: "no", Pause: long, Attempts: 1}
	a.equal("recorded", a.records(end), true)
	before := a.acquire(a.ask(2, 1, long))
	end.Pause, end.Error = 2*long, "another"
	a.equal("recorded again", a.records(end), true)
	after := a.acquire(a.ask(3, 1, long))
	a.is("what was recorded first stays", after, lease.Answer{State: lease.Failed, Content: content, Token: h.Token, Attempts: 1, Error: "no"})
	a.waits("what was recorded first stays", after, 0, before.Wait)
	end.State = lease.Done
	a.equal("another end", a.records(end), false)
	a.equal("extended after its end", a.extends(h), false)
	a.is("its own ask", a.acquire(ask), lease.Answer{State: lease.Failed, Content: content, Token: h.Token, Attempts: 1, Error: "no"})
}

// What a call returned is kept as it is, and nobody gets its lease again.
func results(a *asker) {
	for key, result := range [][]byte{nil, {}, []byte("\x00\xff a result\r\n"), make([]byte, 100_000)} {
		ask := a.ask(1, byte(key), short)
		h := a.hold(ask)
		a.equal("recorded", a.records(lease.End{Hold: h, State: lease.Done, Result: result, Attempts: 1}), true)
		over()
		want := lease.Answer{State: lease.Done, Content: content, Token: h.Token, Attempts: 1, Result: result}
		a.is(fmt.Sprintf("result of %d bytes, for another one", len(result)), a.acquire(a.ask(2, byte(key), long)), want)
		a.is("for its owner", a.acquire(ask), want)
		other := a.ask(3, byte(key), long)
		other.Content.Print++
		a.is("for other content", a.acquire(other), want)
	}
}

// A call that failed is made again after its pause, and what it said is known meanwhile.
func failed(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	a.records(lease.End{Hold: h, State: lease.Failed, Error: "refused", Pause: long, Attempts: 4})
	pausing := a.acquire(a.ask(2, 1, long))
	a.is("in the pause", pausing, lease.Answer{State: lease.Failed, Content: content, Token: h.Token, Attempts: 4, Error: "refused"})
	a.waits("in the pause", pausing, long-time.Minute, long)

	h = a.hold(a.ask(1, 2, long))
	a.records(lease.End{Hold: h, State: lease.Failed, Error: "refused", Pause: short, Attempts: 4})
	over()
	other := a.ask(2, 2, long)
	other.Content = lease.Content{Def: 1, Print: 8}
	next := a.acquire(other)
	if next.Token <= h.Token {
		a.Errorf("token %d came after %d", next.Token, h.Token)
	}
	a.is("after the pause", next, lease.Answer{Got: true, State: lease.Processing, Content: other.Content, Token: next.Token, Attempts: 5, Error: "refused"})
}

// A lease lasts for its term from when it was extended, and only its holder extends it.
func extended(a *asker) {
	ask := a.ask(1, 1, long)
	h := a.hold(ask)
	time.Sleep(time.Second)
	before := a.acquire(a.ask(2, 1, long)).Wait
	a.equal("extended", a.extends(h), true)
	if after := a.acquire(a.ask(2, 1, long)); after.Wait <= before {
		a.Errorf("an extended lease lasts for %v, and did for %v", after.Wait, before)
	}
	a.equal("by another owner", a.extends(lease.Hold{Key: h.Key, Owner: wire.UUID{9}, Token: h.Token}), false)
	a.equal("with another token", a.extends(lease.Hold{Key: h.Key, Owner: h.Owner, Token: h.Token + 1}), false)

	h = a.hold(a.ask(1, 2, short))
	over()
	a.equal("extended late, when nobody had taken it", a.extends(h), true)
	a.equal("recorded late", a.records(lease.End{Hold: h, State: lease.Done, Attempts: 1}), true)
}

// A lease that its caller has seen for less than its term, or not as it is now, is held. After a
// whole term the store decides, if it sets marks.
func seen(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	before := a.acquire(a.ask(2, 1, long))
	time.Sleep(2 * short)
	a.equal("extended", a.extends(h), true)
	now := a.acquire(a.ask(2, 1, long))
	for what, test := range map[string]struct {
		seen lease.Seen
		got  bool
	}{
		"for less than its term": {lease.Seen{Token: now.Token, Mark: now.Mark, For: long - time.Minute}, false},
		"before it was extended": {lease.Seen{Token: now.Token, Mark: before.Mark, For: 2 * long}, before.Mark == now.Mark && now.Mark != 0},
		"under another token":    {lease.Seen{Token: now.Token - 1, Mark: now.Mark, For: 2 * long}, false},
	} {
		ask := a.ask(2, 1, long)
		ask.Seen = test.seen
		a.equal("got, seen "+what, a.acquire(ask).Got, test.got)
	}
	ask := a.ask(2, 1, long)
	ask.Seen = lease.Seen{Token: now.Token, Mark: now.Mark, For: long}
	a.equal("got, seen for its whole term", a.acquire(ask).Got, now.Mark != 0)
}

// Only the holder records an end.
func strangers(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	for what, of := range map[string]lease.Hold{
		"owner": {Key: h.Key, Owner: wire.UUID{9}, Token: h.Token},
		"token": {Key: h.Key, Owner: h.Owner, Token: h.Token + 1},
	} {
		a.equal("recorded with another "+what, a.records(lease.End{Hold: of, State: lease.Done, Result: []byte("no")}), false)
	}
	a.is("nothing changed", a.acquire(a.ask(2, 1, long)), lease.Answer{State: lease.Processing, Content: content, Token: h.Token, Attempts: 1})
}

// Nobody holds what is not there.
func nothingThere(a *asker) {
	h := lease.Hold{Key: wire.Key{1}, Owner: wire.UUID{1}, Token: 1}
	a.equal("extended", a.extends(h), false)
	a.equal("recorded", a.records(lease.End{Hold: h, State: lease.Done}), false)
}

// A batch is answered in its order, whatever is known of each key.
func manyKeys(a *asker) {
	const n = 200
	asks, holds := make([]lease.Ask, n), make([]lease.Hold, n)
	for i := range asks {
		asks[i] = a.ask(1, byte(i), long)
	}
	for i, got := range a.acquireAll(asks...) {
		a.equal("got", got.Got, true)
		holds[i] = lease.Hold{Key: asks[i].Key, Owner: asks[i].Owner, Token: got.Token}
		if i%3 == 0 {
			holds[i].Token++
		}
	}
	held, err := a.store.Extend(a.Context(), a.consumer, holds)
	if err != nil || len(held) != n {
		a.Fatalf("Extend: %d of %d (%v)", len(held), n, err)
	}
	ends := make([]lease.End, n)
	for i := range holds {
		a.equal(fmt.Sprint("extended ", i), held[i], i%3 != 0)
		ends[i] = lease.End{Hold: holds[i], State: lease.Done, Result: []byte{byte(i)}, Attempts: 1}
	}
	if held, err = a.store.Record(a.Context(), a.consumer, ends); err != nil || len(held) != n {
		a.Fatalf("Record: %d of %d (%v)", len(held), n, err)
	}
	for i := range asks {
		a.equal(fmt.Sprint("recorded ", i), held[i], i%3 != 0)
		asks[i] = a.ask(2, byte(i), long)
	}
	for i, got := range a.acquireAll(asks...) {
		if want := lease.Done; i%3 != 0 {
			a.equal(fmt.Sprint("state of ", i), got.State, want)
			a.equal(fmt.Sprint("result of ", i), got.Result, []byte{byte(i)})
		}
	}
}

// The same key of another consumer is another lease.
func consumers(a *asker) {
	h := a.hold(a.ask(1, 1, long))
	other := *a
	other.consumer, other.token = "other", a.token
	second := other.hold(other.ask(2, 1, long))
	a.equal("the first one holds its own", a.extends(h), true)
	a.equal("and not the other", other.extends(h), false)
	a.equal("the other one holds its own", other.extends(second), true)
}
