package retry

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/protocol"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Next is the reaction to a failed transaction: a pause, a halt or, if both are nil, the next
// transaction immediately.
type Next struct {
	Event  protocol.Event // for the protocol's table; Fatal with a halt
	Later  *verdict.Later
	Halt   *verdict.Halt
	Search bool // the search for one record begins, or ends before it began
}

// About is what is known about a record that failed alone.
type About struct {
	Event  string // Go name; "" if it is unknown
	Policy *wire.FailurePolicy
}

// Next determines the reaction to the verdict on a transaction with records. about describes the
// record, if there is only one.
func (s *State) Next(records []wire.Message, v verdict.Verdict, about About) Next {
	switch v.Fault {
	case verdict.Record:
		return s.record(records, v, about)
	case verdict.Unexplained:
		return s.unexplained(records, v)
	case verdict.Connection:
		return stop(halt.Pooler, First(records), verdict.PoolerText, v.Err)
	case verdict.Plans:
		if s.replanned {
			return stop(halt.Database, First(records), "statements no longer fit the schema, although they were prepared again", v.Err)
		}
		s.replanned = true
	case verdict.Settings:
		if s.settings++; s.settings > mostSettings {
			return stop(halt.Database, First(records), "a trigger or a function keeps changing a setting of the session", v.Err)
		}
	case verdict.Time, verdict.Function:
		return s.tooLong(records, v, about)
	case verdict.CallMissing, verdict.CallCut, verdict.CallLate, verdict.CallUnexplained, verdict.CallFailed, verdict.CallRefused:
		return s.call(records, v)
	}
	return later(about.named(records, v), 0)
}

// named adds the record that failed alone to an error of the user's tables and triggers: it may be
// about that record. A timeout names its records itself.
func (a About) named(records []wire.Message, v verdict.Verdict) verdict.Verdict {
	if len(records) == 1 && v.Theirs && v.Fault != verdict.Time && !verdict.Away(v.Err) {
		record := fmt.Sprintf("offset %d", records[0].Offset)
		if a.Event != "" {
			record = "event " + a.Event + ", " + record
		}
		v.Err = fmt.Errorf("%s: %w", record, v.Err)
	}
	return v
}

// mostSettings is how many times in a row a setting may have been changed before an operator must
// act. The first time shows that a setting changes at all, and a deferred trigger leaves one
// changed connection per commit.
const mostSettings = 5

func later(v verdict.Verdict, after time.Duration) Next {
	return Next{Event: v.Event, Later: &verdict.Later{Err: v.Err, After: after}}
}

func stop(code halt.Code, offset int64, reason string, err error) Next {
	return Next{Event: protocol.Fatal, Halt: &verdict.Halt{Code: code, Offset: offset, Reason: reason, Err: err}}
}

// atOnce continues with the next transaction immediately, with fewer records or with a dead
// letter.
func atOnce(search bool) Next { return Next{Event: protocol.Data, Search: search} }

// record searches the records for the one that is rejected, which becomes a dead letter.
func (s *State) record(records []wire.Message, v verdict.Verdict, about About) Next {
	n := atOnce(s.search(len(records)))
	if len(records) > 1 {
		return n
	}
	m := &records[0]
	l := deadletter.Of(m, about.Policy, wire.ReasonDatabase, about.Event, v.Err)
	// Another letter in place of a rejected one would hide why the record has none.
	if _, twice := s.refused[m.Offset]; twice || v.Letter {
		n.Halt = &verdict.Halt{Code: halt.LetterRefused, Offset: m.Offset, Reason: "the record's dead letter was also rejected", Err: v.Err}
	} else if l.Policy.Stop {
		n.Halt = &verdict.Halt{Code: halt.RecordRefused, Offset: m.Offset, Reason: "on_failure says stop: the database rejected the record", Err: v.Err}
	} else {
		s.refused[m.Offset] = l
	}
	return n
}

// unexplained handles an error for which apparently no record is at fault. An error of the user's
// tables and triggers may still concern one record: then the records before it are applied, and
// the partition halts before it.
func (s *State) unexplained(records []wire.Message, v verdict.Verdict) Next {
	if v.Theirs && len(records) > 1 {
		return atOnce(s.search(len(records)))
	}
	n := stop(halt.Database, First(records), "the database rejected a statement for a reason unrelated to any record", v.Err)
	n.Halt.Pass = v.Theirs
	return n
}

// tooLong handles a statement that was canceled or took too long, or whose error a function of the
// user raised like a conflict: half the batch may be fast enough, or meet no conflict. A single
// record is retried, with pauses, as many times as on_failure says.
func (s *State) tooLong(records []wire.Message, v verdict.Verdict, about About) Next {
	if n := len(records); n != 1 {
		s.limit = n / 2
		return later(v, 0)
	}
	if wait, again := s.timeouts.again(records[0].Offset, about.Policy, v.Err); again {
		return later(about.named(records, v), wait)
	}
	return s.record(records, v, about)
}

// call applies on_failure to an error of a handler. The error names its record, so no search is
// needed: the records before it are applied first, then it is attempted alone.
func (s *State) call(records []wire.Message, v verdict.Verdict) Next {
	m := v.Call.Message
	switch v.Fault {
	case verdict.CallMissing:
		if s.others(records, m) {
			return atOnce(false)
		}
		return stop(halt.Handler, m.Offset, "handler "+v.Call.Event+" is not implemented", nil)
	case verdict.CallCut:
		// The event is not at fault, so nothing is counted. The records before it are applied
		// first, in a transaction of their own.
		s.limit = max(1, Index(records, m.Offset))
		return later(v, 0)
	case verdict.CallLate:
		// It counts against the record if nothing else was done in that time.
		if s.others(records, m) {
			return later(v, 0)
		}
		if wait, again := s.timeouts.again(m.Offset, v.Call.Policy, v.Err); again {
			s.limit = 1
			return later(v, wait)
		}
	case verdict.CallUnexplained:
		if s.others(records, m) {
			return atOnce(false)
		}
		n := stop(halt.Database, m.Offset, "handler "+v.Call.Event+" got an error unrelated to any record", v.Cause)
		n.Halt.Pass = true
		return n
	case verdict.CallFailed:
		if wait, again := s.calls.again(m.Offset, v.Call.Policy, v.Err); again {
			s.limit = max(1, Index(records, m.Offset))
			return later(v, wait)
		}
	}
	return s.giveUp(records, v)
}

// giveUp applies on_failure to a record whose handler failed for the last time.
func (s *State) giveUp(records []wire.Message, v verdict.Verdict) Next {
	m := v.Call.Message
	if v.Call.Policy.Stop {
		if s.others(records, m) {
			return atOnce(false)
		}
		return stop(halt.RecordRefused, m.Offset, "handler "+v.Call.Event+" failed and on_failure says stop", v.Cause)
	}
	s.refused[m.Offset] = deadletter.Of(m, v.Call.Policy, wire.ReasonHandler, v.Call.Event, v.Cause)
	s.calls = count{}
	return atOnce(true)
}

// First returns the first record's offset, or -1 if there is none.
func First(records []wire.Message) int64 {
	if len(records) == 0 {
		return -1
	}
	return records[0].Offset
}
