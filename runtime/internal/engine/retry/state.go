// Package retry decides what is sent after a transaction has failed: the same records later, fewer
// of them, or one of them as a dead letter. It keeps the state for that, and callers report events
// to it. It does no I/O and does not block, so it can be tested alone.
//
//	Size: how many records -> transaction -> verdict -> Next
//	  ^                                                    |
//	  +------- search, limit, refused, counts <------------+
//
// A batch that failed because of data is halved until one record is left, the earlier half first,
// to keep the order. It must not import any package of this module but backoff, deadletter, halt,
// internal/protocol, verdict and wire.
package retry

import (
	"maps"

	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/wire"
)

// State is what is known about failures of one partition's records.
type State struct {
	failing   int                         // records from the position on that fail together; 0 = no search
	refused   map[int64]deadletter.Letter // by offset: records that were rejected alone
	calls     count                       // failed calls of the record that failed last
	timeouts  count                       // transactions with only that record that took too long
	limit     int                         // records per transaction while transactions fail without a record at fault; 0 = all
	settings  int                         // transactions in a row in which a setting was changed
	replanned bool                        // the statements were prepared again, and nothing has been acknowledged since
}

// New returns a state without failures.
func New() *State { return &State{refused: map[int64]deadletter.Letter{}} }

// Size returns how many of n records to send next.
func (s *State) Size(n int) int {
	switch {
	case s.failing == 0:
	case s.failing == 1:
		n = 1
	default:
		n = min(n, s.failing/2)
	}
	return s.limited(n)
}

func (s *State) limited(n int) int {
	if s.limit > 0 {
		return min(n, s.limit)
	}
	return n
}

// Halve makes the next transaction have half of n records, because the whole batch failed
// repeatedly.
func (s *State) Halve(n int) { s.limit = max(1, s.limited(n)/2) }

// Passed records that the next n records are durable.
func (s *State) Passed(n int) { s.failing = max(0, s.failing-n) }

// Advanced records that a transaction was acknowledged: every record below next is durable.
func (s *State) Advanced(next int64) {
	maps.DeleteFunc(s.refused, func(offset int64, _ deadletter.Letter) bool { return offset < next })
	s.limit, s.replanned, s.settings = 0, false, 0
}

// Refuse makes a record a dead letter, in the next transaction that covers it.
func (s *State) Refuse(l deadletter.Letter) { s.refused[l.Message.Offset] = l }

// Called keeps the results of effects of rejected records.
func (s *State) Called(results map[int64]wire.EffectResult) {
	for offset, l := range s.refused {
		if r, made := results[offset]; made {
			l.Called(r)
			s.refused[offset] = l
		}
	}
}

// Refused returns, by offset, the records that must become dead letters because they were rejected
// alone.
func (s *State) Refused() map[int64]deadletter.Letter { return s.refused }

// Attempt returns the number of the next call of a handler for a record.
func (s *State) Attempt(offset int64) int {
	if s.calls.offset != offset {
		return 1
	}
	return s.calls.failed + 1
}

// Succeeded records that a call succeeded: earlier failures no longer count, even if the
// transaction is rolled back because of another record.
func (s *State) Succeeded(offset int64) {
	if s.calls.offset == offset {
		s.calls.failed = 0
	}
}

// search records that n records fail together, and reports whether a search begins.
func (s *State) search(n int) (begins bool) {
	begins = s.failing == 0
	s.failing = n
	return begins
}

// others reports whether there are records before m, and makes the next transaction have only
// those.
func (s *State) others(records []wire.Message, m *wire.Message) bool {
	n := Index(records, m.Offset)
	if n > 0 {
		s.limit = n
	}
	return n > 0
}

// Index returns the index of a record in records, or their number if it is not there.
func Index(records []wire.Message, offset int64) int {
	for i := range records {
		if records[i].Offset == offset {
			return i
		}
	}
	return len(records)
}
