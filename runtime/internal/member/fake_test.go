package member_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtype"
)

const topicName = "orders.v1"

// ledger stands in for the database: several sinks may share it.
type ledger struct {
	mu      sync.Mutex
	next    map[idem.Partition]int64
	offsets map[idem.Partition][]int64 // that were delivered
	records []idem.Message             // the same, if kept
	keep    bool
	owner   map[idem.Partition]*fakeSink // who took it over last
}

func newLedger() *ledger {
	return &ledger{next: map[idem.Partition]int64{}, offsets: map[idem.Partition][]int64{}, owner: map[idem.Partition]*fakeSink{}}
}

func (l *ledger) count() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.offsets {
		n += len(o)
	}
	return n
}

func (l *ledger) position(p idem.Partition) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next[p]
}

func (l *ledger) own(p idem.Partition, s *fakeSink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner[p] = s
}

func (l *ledger) owned(p idem.Partition, s *fakeSink) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owner[p] == s
}

// fakeSink is what the runtime is to a Source. It fails the test when calls for one
// partition overlap, or a record comes before its partition was taken over, twice, or out
// of order. Who takes a partition over fences its owner before, and stands by until the
// position has not moved for a moment.
type fakeSink struct {
	t      testing.TB
	ledger *ledger
	assign func(context.Context, idem.Assignment) (idem.Position, error) // nil: the ledger's
	before func(context.Context, idem.Partition, []idem.Message) error   // before a delivery
	answer func(context.Context, idem.Partition) (idem.TakeOver, error)  // nil: the ledger's
	idle   func() error                                                  // asked in standby; nil: all is as it was
	asked  func(idem.Partition)                                          // before Durable answers

	mu      sync.Mutex
	silent  map[idem.Partition]time.Time
	turned  map[idem.Partition]int64 // where the ledger stood when Standby answered
	busy    map[idem.Partition]string
	owned   map[idem.Partition]bool
	given   map[idem.Partition]bool // up, by Revoked or Lost, and not taken over since
	calls   []string
	group   []string
	ends    map[idem.Partition]int64
	answers []idem.Assignment
	since   string // what the metadata says besides the offset
}

func newSink(t testing.TB, l *ledger) *fakeSink {
	return &fakeSink{t: t, ledger: l, turned: map[idem.Partition]int64{}, silent: map[idem.Partition]time.Time{}, ends: map[idem.Partition]int64{}, busy: map[idem.Partition]string{}, owned: map[idem.Partition]bool{}, given: map[idem.Partition]bool{}}
}

func (s *fakeSink) enter(p idem.Partition, call string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.busy[p]; other != "" {
		s.t.Errorf("%s of %v while %s is not over", call, p, other)
	}
	s.busy[p] = call
	if call != "Deliver" {
		s.calls = append(s.calls, fmt.Sprintf("%s %d", call, p.Number))
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, p)
	}
}

func (s *fakeSink) Assigned(ctx context.Context, a idem.Assignment) (idem.Position, error) {
	defer s.enter(a.Partition, "Assigned")()
	s.mu.Lock()
	s.answers = append(s.answers, a)
	s.mu.Unlock()
	if err := s.alive(ctx, a.Partition); err != nil {
		return idem.Position{}, err
	}
	at := idem.Position{Offset: s.ledger.position(a.Partition), Epoch: -1}
	if s.assign != nil {
		var err error
		if at, err = s.assign(ctx, a); err != nil {
			return at, err
		}
	}
	s.ledger.own(a.Partition, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned[a.Partition], s.given[a.Partition] = true, false
	return at, nil
}

// alive says, after a standby, that the other owner applies what waits.
func (s *fakeSink) alive(ctx context.Context, p idem.Partition) error {
	s.mu.Lock()
	at, stood := s.turned[p]
	delete(s.turned, p)
	s.mu.Unlock()
	if stood && (!sleep(ctx, 200*time.Millisecond) || s.ledger.position(p) != at) {
		return &idem.FencedError{Partition: p, Reason: "another owner is at work"}
	}
	return nil
}

func (s *fakeSink) Standby(ctx context.Context, p idem.Partition) (idem.TakeOver, error) {
	defer s.enter(p, "Standby")()
	if s.answer != nil {
		return s.answer(ctx, p)
	}
	for at := s.ledger.position(p); ; {
		if !sleep(ctx, 300*time.Millisecond) {
			return idem.TakeOver{}, ctx.Err()
		}
		now := s.ledger.position(p)
		if now == at {
			s.mu.Lock()
			s.turned[p] = at
			s.mu.Unlock()
			return idem.TakeOver{At: idem.Position{Offset: at, Epoch: -1}}, nil
		}
		at = now
	}
}

func (s *fakeSink) Deliver(ctx context.Context, p idem.Partition, records []idem.Message) error {
	defer s.enter(p, "Deliver")()
	s.mu.Lock()
	owned, given := s.owned[p], s.given[p]
	s.mu.Unlock()
	if !owned && given { // while the records were on their way
		return &idem.FencedError{Partition: p, Reason: "the partition was given up"}
	}
	if !owned {
		s.t.Errorf("records of %v before it was taken over", p)
	}
	if s.before != nil {
		if err := s.before(ctx, p, records); err != nil {
			s.mu.Lock()
			s.owned[p] = false
			s.mu.Unlock()
			return err
		}
	}
	if !s.ledger.owned(p, s) {
		s.mu.Lock()
		s.owned[p] = false
		s.mu.Unlock()
		return &idem.FencedError{Partition: p, Reason: "another owner took the partition over"}
	}
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range records {
		if m.Offset < l.next[p] {
			s.t.Errorf("offset %d of %v came again; the position is %d", m.Offset, p, l.next[p])
		}
		l.next[p] = m.Offset + 1
		l.offsets[p] = append(l.offsets[p], m.Offset)
		if l.keep {
			l.records = append(l.records, m)
		}
	}
	return nil
}

func (s *fakeSink) Idle(_ context.Context, p idem.Partition, end int64) error {
	defer s.enter(p, "Idle")()
	s.mu.Lock()
	owned := s.owned[p]
	s.mu.Unlock()
	l := s.ledger
	switch {
	case !owned && s.idle != nil: // it stands by
		return s.idle()
	case owned && !l.owned(p, s):
		s.mu.Lock()
		s.owned[p] = false
		s.mu.Unlock()
		return &idem.FencedError{Partition: p, Reason: "another owner took the partition over"}
	case owned:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next[p] = max(l.next[p], end)
	}
	return nil
}

func (s *fakeSink) Durable(p idem.Partition) idem.Commit {
	if s.asked != nil {
		s.asked(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.owned[p] {
		return idemtype.NoCommit
	}
	return s.commit(p)
}

// commit is what the sink has committed, with metadata.
func (s *fakeSink) commit(p idem.Partition) idem.Commit {
	at := s.ledger.position(p)
	return idem.Commit{Offset: at, Metadata: fmt.Sprintf("at %d%s", at, s.since)}
}

func (s *fakeSink) End(p idem.Partition, end int64, _ time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[p] = end
}

func (s *fakeSink) Group(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.group = append(s.group, fmt.Sprint(why))
}

// knows reports whether the sink was told of the group.
func (s *fakeSink) knows() bool { return len(s.changes()) > 0 }

// changes is all that the sink was told of the group.
func (s *fakeSink) changes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.group)
}

// end is what the sink was told of a log's end.
func (s *fakeSink) end(p idem.Partition) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends[p]
}

// stands is what the sink was told of the group last.
func (s *fakeSink) stands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.group[len(s.group)-1]
}

func (s *fakeSink) Silent(p idem.Partition, since time.Time, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[p] = since
}

func (s *fakeSink) isSilent(p idem.Partition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.silent[p].IsZero()
}

func (s *fakeSink) Lost(p idem.Partition) { s.gone(p, "Lost") }

func (s *fakeSink) Revoked(p idem.Partition) idem.Commit {
	s.gone(p, "Revoked")
	return s.commit(p)
}

func (s *fakeSink) gone(p idem.Partition, call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.busy[p]; b == "Assigned" || b == "Standby" {
		s.t.Errorf("%s of %v while %s is not over", call, p, b)
	}
	s.owned[p], s.given[p] = false, true
	s.calls = append(s.calls, fmt.Sprintf("%s %d", call, p.Number))
}

// seen is how often a call was made, for one partition ("Assigned 0") or any ("Assigned").
func (s *fakeSink) seen(call string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == call || strings.HasPrefix(c, call+" ") {
			n++
		}
	}
	return n
}

func (s *fakeSink) owns() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.owned {
		if o {
			n++
		}
	}
	return n
}
