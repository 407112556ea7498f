// Package memlease keeps leases in memory: for tests of what asks a store of leases, and needs no
// server. One Store stands for one server that several processes of a test ask. It must not import
// any package of this module but lease and wire.
package memlease

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Store is a [lease.Store]. It draws no tokens, but takes those of the asks, and draws one where
// an ask brings none. The zero Store is empty.
type Store struct {
	// Apart is by how much the server's clock is ahead of those who ask. If it is not 0, nothing
	// ends but what an ask has seen for its whole term. It is set before the first ask.
	Apart time.Duration

	mu    sync.Mutex
	rows  map[place]*row
	drawn int64
}

type place struct {
	consumer string
	key      wire.Key
}

type row struct {
	lease.Answer
	owner      wire.UUID
	term       time.Duration
	interrupts bool
	expires    time.Time // of Processing: the lease; of Failed: until then no call begins
	lasts      time.Duration
}

// Acquire implements [lease.Store].
func (s *Store) Acquire(_ context.Context, consumer string, asks []lease.Ask) ([]lease.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[place]*row{}
	}
	answers := make([]lease.Answer, len(asks))
	for i := range asks {
		answers[i] = s.acquire(place{consumer, asks[i].Key}, &asks[i])
	}
	return answers, nil
}

func (s *Store) acquire(at place, ask *lease.Ask) lease.Answer {
	r := s.rows[at]
	if r == nil {
		r = &row{Answer: lease.Answer{State: lease.Failed, Content: ask.Content}}
	}
	if r.free(ask, s.Apart != 0) {
		token := ask.Token
		if token == 0 {
			s.drawn = max(s.drawn, ask.Above) + 1
			token = s.drawn
		}
		if token <= r.Token {
			return lease.Answer{Stale: true, Token: r.Token}
		}
		s.rows[at] = r
		r.take(ask, token)
	}
	a := r.Answer
	a.Got = r.State == lease.Processing && r.owner == ask.Owner
	a.Wait, a.Mark, a.Apart = max(0, time.Until(r.expires)), r.expires.UnixNano(), s.Apart
	if s.Apart != 0 {
		a.Wait = r.lasts
	}
	return a
}

// free reports whether an ask changes the lease.
func (r *row) free(ask *lease.Ask, apart bool) bool {
	over, copied := r.lasts == 0 || !apart && !time.Now().Before(r.expires), !conflict(r.Content, ask.Content)
	if s := ask.Seen; s.Token == r.Token && s.Mark == r.expires.UnixNano() && s.For >= r.lasts {
		over = true
	}
	decided := ask.Decision.Number > r.Token || ask.Decision.Result != nil
	switch r.State {
	case lease.Failed:
		return over || decided
	case lease.Processing:
		return over && copied
	case lease.Interrupted:
		return decided && copied
	}
	return false
}

func conflict(a, b lease.Content) bool { return a.Def == b.Def && a.Print != b.Print }

// take gives a lease that is free to who asks, or finds that nobody knows what its call did.
func (r *row) take(ask *lease.Ask, token int64) {
	same := r.State == lease.Processing && r.owner == ask.Owner
	switch {
	case ask.Decision.Result != nil:
		r.State, r.Result, r.Error = lease.Done, ask.Decision.Result, ""
	case r.State == lease.Processing && r.interrupts && !same:
		r.State, r.Error = lease.Interrupted, "the lease ended before the call did"
	case same:
	case r.State != lease.Processing && ask.Decision.Number > r.Token:
		r.State, r.Attempts = lease.Processing, 1
	default:
		r.State, r.Attempts = lease.Processing, r.Attempts+1
	}
	r.Content, r.Token, r.owner, r.Holder = ask.Content, token, ask.Owner, ask.Holder
	r.term, r.lasts, r.interrupts, r.expires = ask.Term, ask.Term, ask.Interrupts, time.Now().Add(ask.Term)
}

// Extend implements [lease.Store].
func (s *Store) Extend(_ context.Context, consumer string, held []lease.Hold) ([]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := make([]bool, len(held))
	for i := range held {
		if r := s.held(consumer, &held[i]); r != nil && r.State == lease.Processing {
			r.expires, is[i] = time.Now().Add(r.term), true
		}
	}
	return is, nil
}

// Record implements [lease.Store].
func (s *Store) Record(_ context.Context, consumer string, ends []lease.End) ([]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := make([]bool, len(ends))
	for i := range ends {
		e := &ends[i]
		r := s.held(consumer, &e.Hold)
		if r == nil || r.State != lease.Processing && r.State != e.State {
			continue
		}
		if is[i] = true; r.State == lease.Processing {
			r.State, r.Result, r.Error, r.Attempts = e.State, e.Result, e.Error, e.Attempts
			r.expires, r.lasts = time.Now().Add(e.Pause), e.Pause
		}
	}
	return is, nil
}

// held is the row of a lease, if the holder still has it.
func (s *Store) held(consumer string, h *lease.Hold) *row {
	if r := s.rows[place{consumer, h.Key}]; r != nil && r.owner == h.Owner && r.Token == h.Token {
		return r
	}
	return nil
}

// States are what the leases of a consumer of any database are now, by their keys.
func (s *Store) States(consumer string) map[wire.Key]lease.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[wire.Key]lease.State{}
	for at, r := range s.rows {
		if at.consumer == consumer || strings.HasSuffix(at.consumer, ":"+consumer) {
			all[at.key] = r.State
		}
	}
	return all
}

// Forget loses everything, as a server without persistence does that is started again.
func (s *Store) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = nil
}
