// Package leasetest holds a store of leases to what package lease says of one. Every store has to
// pass it.
//
// It must not import any package of this module but lease and wire.
package leasetest

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Run runs the tests, each on a store that open opens, empty. draws says that the store draws the
// tokens; else each Ask brings one.
func Run(t *testing.T, draws bool, open func(testing.TB) lease.Store) {
	tests := map[string]func(*asker){
		"two owners":                twoOwners,
		"a lock":                    locks,
		"lost answers":              lostAnswers,
		"results":                   results,
		"a call failed":             failed,
		"a lease ended":             ended,
		"a lease was interrupted":   interrupted,
		"whose lease interrupts":    whoseInterrupts,
		"other content":             otherContent,
		"extended":                  extended,
		"seen for a whole term":     seen,
		"a stranger's record":       strangers,
		"nothing there":             nothingThere,
		"a person decides":          byPeople,
		"call again":                callAgain,
		"what is decided once":      onceDecided,
		"other content, decided":    decidedForOthers,
		"it was done":               wasDone,
		"it was not to be decided":  notToBeDecided,
		"many keys at once":         manyKeys,
		"consumers":                 consumers,
		"an ask without its answer": forgottenAsk,
	}
	if draws {
		tests["tokens of others"] = drawnTokens
	} else {
		tests["tokens that do not grow"], tests["tokens beyond 2^53"] = staleTokens, bigTokens
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(&asker{TB: t, store: open(t), draws: draws, consumer: "test"}) })
	}
}

// asker asks a store, and fails the test if it returns an error.
type asker struct {
	testing.TB
	store    lease.Store
	draws    bool
	consumer string
	token    int64 // the last one that was drawn
}

const (
	long  = time.Hour        // a lease that no test sees the end of
	short = time.Millisecond // one that is over when over returns
)

// over waits until a short lease is over.
func over() { time.Sleep(20 * short) }

// ask is one of owner n for a key, with a token greater than all before, as far as it needs one.
func (a *asker) ask(n byte, key byte, term time.Duration) lease.Ask {
	ask := lease.Ask{
		Key: wire.Key{key}, Owner: wire.UUID{n}, Term: term, Keep: long, Content: lease.Content{Def: 1, Print: 7},
	}
	if !a.draws {
		a.token++
		ask.Token = a.token
	}
	return ask
}

func (a *asker) acquireAll(asks ...lease.Ask) []lease.Answer {
	a.Helper()
	ctx, cancel := context.WithTimeout(a.Context(), time.Minute)
	defer cancel()
	answers, err := a.store.Acquire(ctx, a.consumer, asks)
	if err != nil || len(answers) != len(asks) {
		a.Fatalf("Acquire: %d answers to %d asks (%v)", len(answers), len(asks), err)
	}
	return answers
}

func (a *asker) acquire(ask lease.Ask) lease.Answer {
	a.Helper()
	return a.acquireAll(ask)[0]
}

// hold acquires a lease that is free.
func (a *asker) hold(ask lease.Ask) lease.Hold {
	a.Helper()
	got := a.acquire(ask)
	if !got.Got || got.State != lease.Processing || got.Token <= 0 {
		a.Fatalf("a free lease is not had: %+v", got)
	}
	return lease.Hold{Key: ask.Key, Owner: ask.Owner, Token: got.Token}
}

func (a *asker) extends(h lease.Hold) bool {
	a.Helper()
	held, err := a.store.Extend(a.Context(), a.consumer, []lease.Hold{h})
	if err != nil || len(held) != 1 {
		a.Fatalf("Extend: %v (%v)", held, err)
	}
	return held[0]
}

func (a *asker) records(e lease.End) bool {
	a.Helper()
	held, err := a.store.Record(a.Context(), a.consumer, []lease.End{e})
	if err != nil || len(held) != 1 {
		a.Fatalf("Record: %v (%v)", held, err)
	}
	return held[0]
}

// is holds an answer to what it must be. A Wait is compared with its bounds, elsewhere,
// and a Mark is the store's own.
func (a *asker) is(what string, got, want lease.Answer) {
	a.Helper()
	got.Wait, got.Mark = 0, 0
	if !reflect.DeepEqual(got, want) {
		a.Errorf("%s:\n got %s\nwant %s", what, text(got), text(want))
	}
}

func text(a lease.Answer) string { return fmt.Sprintf("state %c of %+v", a.State, a) }

func (a *asker) equal(what string, got, want any) {
	a.Helper()
	if !reflect.DeepEqual(got, want) {
		a.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// waits holds a Wait to its bounds.
func (a *asker) waits(what string, got lease.Answer, least, most time.Duration) {
	a.Helper()
	if got.Wait < least || got.Wait > most {
		a.Errorf("%s: a wait of %v, not within %v and %v", what, got.Wait, least, most)
	}
}
