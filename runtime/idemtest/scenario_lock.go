package idemtest

import (
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

var lockScenarios = []scenario{
	{"calls under one lock", oneLock,
		"Calls of events that lock the same thing must be made one after the other, whatever their record keys are."},
	{"lock lost while a call runs", lockLost,
		"A lock must be held while the call runs, under the same name and key as in other services, and a holder whose lock expired must not release that of the next holder."},
}

// lockedCall is how long a call takes that holds a lock.
const lockedCall = 20 * time.Millisecond

// oneLock applies the log as one batch, whose calls are begun together, and looks for two that run
// at the same time under one lock.
func oneLock(b *trial) {
	of := map[string]record{}
	for _, r := range b.log {
		of[b.calledFor(r)] = r
	}
	var mu sync.Mutex
	running, shared := map[wire.Lock]string{}, map[wire.Lock][]string{}
	b.effects.set(func(id string, nth int) {
		l := untold(b.effects.of(id)[nth-1].lock)
		r := of[id]
		if r.locked != (l.Name != "") {
			b.t.Errorf("%s: a call runs under lock %q, but the spec says otherwise", r.effect, l.Name)
		}
		if l.Name == "" {
			return
		}
		mu.Lock()
		if other := running[l]; other != "" {
			b.t.Errorf("two calls run at the same time under lock %s: of %s, offset %d, and %s, offset %d", l.Name, of[other].effect, of[other].message.Offset, r.effect, r.message.Offset)
		}
		running[l] = id
		if !slices.Contains(shared[l], id) {
			shared[l] = append(shared[l], id)
		}
		mu.Unlock()
		time.Sleep(lockedCall)
		mu.Lock()
		delete(running, l)
		mu.Unlock()
	})
	b.apply(b.messages(b.log)...)
	b.effects.set(nil)
	for _, ids := range shared {
		if len(ids) > 1 {
			return
		}
	}
	b.t.Skip("no two events of this log lock the same thing: another service may")
}

// untold is a lock without the number of its holder.
func untold(l wire.Lock) wire.Lock {
	l.Token = 0
	return l
}

// lockLost stops the holder of a lock within the call. Another service asks for the lock, and
// must not have it until it has ended. Then it must keep it. The holder's answer counts all the
// same: its lease is its own.
func lockLost(b *trial) {
	walk := newWalk(b, 1)
	for _, r := range b.log {
		if !walk.takesLock(r) {
			walk.deliver(r)
			continue
		}
		m := walk.place(r)
		b.at(r, m.Partition, m.Offset)
		called, awake := make(chan struct{}), make(chan struct{})
		id := b.calledFor(r)
		b.effects.set(func(of string, nth int) {
			if of == id && nth == 1 {
				close(called)
				<-awake
			}
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			walk.owners.deliver([]idem.Message{m})
		}()
		select {
		case <-ended: // a copy of an event before it
		case <-called:
			walk.cut[r.effect]++
			walk.takenOver(b.effects.of(id)[0].lock, func() { close(awake); <-ended })
		}
		b.effects.set(nil)
	}
	walk.done("no call of this topic could be stopped: its events take no effect, or are handled by the service's own code")
}

// takesLock reports whether the scenario takes the call of a record that runs under a lock.
func (w *walk) takesLock(r record) bool { return r.locked && w.takes(r) }

// takenOver has another service take a lock over whose holder sleeps, and then wakes the holder.
func (w *walk) takenOver(l wire.Lock, wake func()) {
	t := w.b.t
	if l.Token <= 0 {
		t.Errorf("a call runs without its lock: %+v", l)
		wake()
		return
	}
	if token, got := w.rival(l); got {
		t.Errorf("lock %s was acquired a second time, under token %d, while a call runs under token %d", l.Name, token, l.Token)
	}
	w.endLock(l)
	token, got := w.rival(l)
	if !got || token <= l.Token {
		t.Errorf("lock %s of token %d has expired, but was not acquired under a greater token (%d)", l.Name, l.Token, token)
	}
	wake()
	if _, got := w.rival(l); got {
		t.Errorf("a holder that lost lock %s released it for the current holder", l.Name)
	}
	w.endLock(l)
}

// rival asks for a lock as another service does.
func (w *walk) rival(l wire.Lock) (token int64, got bool) {
	b := w.b
	b.t.Helper()
	if was, outside := b.effects.leases.of(lease.Locks(l.Name), l.Key); outside {
		var number int64
		err := b.db.QueryRow(b.t.Context(), `SELECT nextval('idem_fence')`).Scan(&number)
		var answers []lease.Answer
		if err == nil {
			ask := lease.Ask{Key: l.Key, Owner: wire.UUID(l.Key), Term: time.Minute, Keep: time.Minute, Token: number}
			ask.Owner[0]++ // a name that nobody else has
			answers, err = was.in.Acquire(b.t.Context(), was.consumer, []lease.Ask{ask})
		}
		if err != nil {
			b.t.Fatalf("idemtest: acquire a lock: %v", err)
		}
		return answers[0].Token, answers[0].Got && answers[0].Token == number
	}
	rows, err := b.db.Query(b.t.Context(), rivalSQL, lease.Locks(l.Name), l.Key[:])
	if err != nil {
		b.t.Fatalf("idemtest: acquire a lock: %v", err)
	}
	tokens, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		b.t.Fatalf("idemtest: acquire a lock: %v", err)
	}
	if len(tokens) == 0 {
		return 0, false
	}
	return tokens[0], true
}

const rivalSQL = `
INSERT INTO idem_lease AS l (consumer, key, def, fp, state, owner, fence, attempts, term, interrupts, keep, expires_at)
VALUES ($1, encode($2::bytea, 'hex')::uuid, 0, 0, 'p', gen_random_uuid(), nextval('idem_fence'), 1, '1 minute', false, '1 minute', clock_timestamp() + interval '1 minute')
ON CONFLICT (consumer, key) DO UPDATE SET state = 'p', owner = excluded.owner, fence = excluded.fence, term = excluded.term, expires_at = excluded.expires_at
WHERE l.expires_at <= clock_timestamp()
RETURNING fence`

// endLock ends a lock, as its time does.
func (w *walk) endLock(l wire.Lock) {
	b := w.b
	b.t.Helper()
	Exec(b.t, b.db, `UPDATE idem_lease SET expires_at = clock_timestamp() WHERE consumer = $1 AND state = 'p'`, lease.Locks(l.Name))
	if was, outside := b.effects.leases.of(lease.Locks(l.Name), l.Key); outside {
		if err := was.in.SetFields(b.t.Context(), was.consumer, l.Key, map[string]string{"expires": "0"}); err != nil {
			b.t.Fatalf("idemtest: release a lock: %v", err)
		}
	}
}
