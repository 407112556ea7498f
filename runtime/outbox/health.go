package outbox

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/outage"
)

// Stats is a snapshot. It asks nobody.
type Stats struct {
	Leads bool // this process is the one that sends
	// Sent are records that Kafka has, since New; one that was sent twice counts twice.
	Sent int64
	// Undeliverable are the rows that Health names: Kafka does not take them.
	Undeliverable int
	// HeldBack are rows that wait behind those, which count as well. They are counted every few
	// seconds.
	HeldBack int64
	// Oldest is the age of the oldest row, by the clock of the database; 0 when the last read found
	// none, and in a process that does not send.
	Oldest time.Duration
}

// status is what other goroutines may ask of the relay.
type status struct {
	condition outage.Condition
	sent      atomic.Int64

	mu            sync.Mutex
	state         state
	leads         bool
	busy          time.Time // when records were given to the Sender; zero if none are
	oldest        time.Time
	undeliverable int
	named         error
	heldBack      int64
}

type state int

const (
	notRun state = iota
	runs
	ended
)

var (
	errNotRun = errors.New("the relay is not started: Run was not called")
	errEnded  = errors.New("the relay has ended: Run has returned")
)

// begin reports whether Run may run.
func (s *status) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == runs {
		return false
	}
	s.state, s.condition.Of = runs, "relay"
	return true
}

func (s *status) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = ended
}

// lead notes that this process sends, or that it does no more; then it knows of no rows.
func (s *status) lead(leads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leads = leads
	s.oldest, s.undeliverable, s.named, s.heldBack = time.Time{}, 0, nil, 0
}

func (s *status) onItsWay(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = since
}

func (s *status) setOldest(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = at
}

func (s *status) waits(rows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heldBack = rows
}

func (s *status) cannotSend(rows int, named error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undeliverable, s.named = rows, named
}

// Health returns nil while rows are sent, and while another process sends them. Else its error has
// one line per reason: Run was not called or has ended; the database or Kafka is away; records
// have been on their way for long; and each row that Kafka does not take, by its id, topic, type
// and event id, the first ten by name. It asks nobody and returns at once.
func (r *Relay) Health() error {
	s := &r.status
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case notRun:
		return r.told(errNotRun)
	case ended:
		return r.told(errEnded)
	}
	var errs []error
	late := time.Since(s.busy)
	if why := s.condition.Why(); why != nil {
		errs = append(errs, r.told(why))
	} else if !s.busy.IsZero() && late > r.paces().late {
		errs = append(errs, r.told(fmt.Errorf("no answer of Kafka for %v", late.Round(time.Second))))
	}
	return errors.Join(append(errs, s.named)...)
}

func (r *Relay) told(why error) error { return fmt.Errorf("outbox %s: %w", r.table.Table, why) }

// Stats returns counters and what the last read saw; metric packages poll it.
func (r *Relay) Stats() Stats {
	s := &r.status
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{Leads: s.leads, Sent: s.sent.Load(), Undeliverable: s.undeliverable, HeldBack: s.heldBack}
	if !s.oldest.IsZero() {
		st.Oldest = time.Since(s.oldest)
	}
	return st
}
