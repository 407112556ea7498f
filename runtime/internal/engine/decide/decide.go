// Package decide decides, in memory, what records do: it decodes them, looks up their keys, and
// collects rows, calls of handlers, claims of keys and dead letters for one transaction. It may
// decide the same records any number of times: it keeps nothing from an earlier decision.
//
//	records -> plan (generated) -> applied | duplicate | ignored | dead letter -> Decision
//
// It does no I/O. It must not import any package of this module but catalog, deadletter, halt,
// hook, idemtype, keys, keyset, ledger, verdict and wire.
package decide

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/catalog"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/keyset"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Decider decides for one partition, one decision at a time.
type Decider struct {
	consumer string
	topic    *wire.Topic
	most     int // bytes of a payload
	catalog  *catalog.Current
	batch    *wire.Batch
	event    string // of the last record; "" if it is unknown
}

// New returns a decider for a partition of a topic.
func New(s *wire.Service, topic *wire.Topic, known *catalog.Current) *Decider {
	return &Decider{consumer: s.Consumer, topic: topic, most: s.Limits.MaxPayload, catalog: known}
}

// Decision is one transaction, ready to be sent.
type Decision struct {
	Records []wire.Message
	Steps   []wire.Step
	Claims  []wire.Claim // that go into idem_keys
	Hidden  []wire.Key   // of records that were rejected after their claim
	Keys    keyset.Row   // that go into the appended row
	Result  idemtype.Result
	Known   *keys.Known  // the keys that were known to the decision
	InRow   ledger.InRow // dead letters since the last record that took effect
	Events  []hook.Event // the outcome of each record, if a hook needs it

	// Waiting are the effects for which records wait. If there are any, the decision cannot be
	// sent. The first Ready records, before the first that waits, can be decided again without it.
	Waiting []wire.Effect
	Ready   int
	Effects []wire.EffectResult // that its rows depend on

	Letters []deadletter.Letter
	Moves   []deadletter.Move // of parked record keys, in the order of the records
}

// Facts are the input of a decision, besides the records.
type Facts struct {
	Known   *keys.Known
	Refused map[int64]deadletter.Letter // records that must become dead letters, by offset
	InRow   ledger.InRow                // dead letters since the last record that took effect, before these
	Events  bool                        // a hook needs the outcome of each record
	Effects map[int64]wire.EffectResult // results of records' effects, by offset
	Parked  *deadletter.Parked          // parked record keys; nil if there are none
	Topic   wire.UUID                   // id of the topic
	Replay  bool                        // the record is a dead letter's: if it is rejected, the partition must not halt
}

// Decide decides what records do. If a record may not become a dead letter, the decision covers
// only the records before it. If that record is the first one, the error is a [verdict.Halt]; the
// decision then still contains the keys that would change it if they turn out to be known.
func (d *Decider) Decide(records []wire.Message, f Facts) (*Decision, error) {
	if d.batch == nil {
		d.batch = wire.NewBatch(d.topic.NewPlan())
	}
	w := &Decision{Records: records, InRow: f.InRow, Known: f.Known, Ready: -1}
	d.catalog.KeepApart(d.batch, d.topic.Name)
	d.batch.Reset(f.Known)
	d.batch.Effects(f.Effects)
	d.batch.From(d.consumer, f.Topic)
	for i := range records {
		l, bad := d.decide(w, &records[i], &f)
		if !bad {
			continue
		}
		if err := mayBecomeLetter(w, &l); f.Replay || l.Waits {
			// It already is a dead letter, and stays one; or it was not rejected.
		} else if err != nil && i == 0 {
			w.Hidden = slices.Clone(d.batch.Hidden())
			return w, err
		} else if err != nil {
			return d.Decide(records[:i], f) // the records before it come first
		}
		w.addLetter(l)
		if f.Events {
			w.Events = append(w.Events, hook.Event{Offset: l.Message.Offset, Name: l.Event, Outcome: dead(&l)})
		}
	}
	steps, claims := d.batch.Finish()
	w.Steps = steps
	w.Claims, w.Keys.Keys, w.Keys.Defs = ledger.Split(claims)
	w.Hidden = slices.Clone(d.batch.Hidden())
	w.Waiting, w.Effects = d.batch.Awaited()
	return w, nil
}

// decide adds one record to the batch, and counts it, or returns its dead letter.
func (d *Decider) decide(w *Decision, m *wire.Message, f *Facts) (l deadletter.Letter, bad bool) {
	if w.waits(m, f) {
		d.event = ""
		return deadletter.Behind(m, &d.topic.OnFailure), true
	}
	refused, is := f.Refused[m.Offset]
	refused.Message = m // the slice may differ from the one when it was rejected
	if is && !refused.Effect {
		d.event = refused.Event
		return refused, true
	}
	outcome, err := d.add(m)
	if err == nil && outcome == wire.Waiting && is {
		wire.GiveUp(d.batch)
		return refused, true
	}
	if err == nil && outcome == wire.Waiting {
		if w.Ready < 0 {
			w.Ready = slices.IndexFunc(w.Records, func(o wire.Message) bool { return o.Offset == m.Offset })
		}
		return l, false
	}
	if err == nil {
		w.count(outcome)
		if f.Events {
			w.Events = append(w.Events, hook.Event{Offset: m.Offset, Name: d.event, Outcome: told[outcome]})
		}
		return l, false
	}
	l = deadletter.Undecided(m, d.Policy(m), err)
	if r, made := f.Effects[m.Offset]; made {
		l.Called(r)
	}
	if l.Conflict {
		l.Reason += "; the first copy is " + f.Known.FirstCopy(wire.Key(*l.Key))
	}
	return l, true
}

// add adds one record to the batch. It returns an error if the record cannot take effect.
func (d *Decider) add(m *wire.Message) (wire.Outcome, error) {
	d.event = ""
	if n := len(m.Value); n > d.most {
		return wire.Applied, &wire.DecodeError{Class: wire.ReasonTooLarge, Reason: fmt.Sprintf("the payload has %d bytes, limits.max_payload is %d", n, d.most)}
	}
	outcome, err := d.batch.Add(m, &d.topic.OnFailure)
	d.event = d.batch.Event()
	return outcome, err
}

// Policy returns on_failure of the record that was added last.
func (d *Decider) Policy(m *wire.Message) *wire.FailurePolicy {
	if d.batch == nil {
		return &d.topic.OnFailure
	}
	if p := d.batch.Failure(); p != nil && len(m.Value) <= d.most {
		return p
	}
	return &d.topic.OnFailure
}

// Event returns the Go name of the last record's event; "" if it is unknown.
func (d *Decider) Event() string { return d.event }

// Discard discards a decision that a panic interrupted: the buffers may contain half a record.
func (d *Decider) Discard() { d.batch, d.event = nil, "" }

// mayBecomeLetter returns a halt before a record that may not become a dead letter: either
// on_failure says stop, or too many records in a row became dead letters. In that case the records
// are probably not at fault, and the topic must not be drained.
func mayBecomeLetter(w *Decision, l *deadletter.Letter) error {
	stop := func(code halt.Code, reason string) error {
		return &verdict.Halt{Code: code, Offset: l.Message.Offset, Reason: reason}
	}
	switch p := l.Policy; {
	case l.Stop:
		return stop(halt.RecordRefused, l.Reason)
	case p.Stop:
		return stop(halt.RecordRefused, "on_failure says stop: "+l.Reason)
	case p.StopAfter > 0 && w.InRow.N >= p.StopAfter:
		return stop(halt.DeadLetters, fmt.Sprintf("%d records in a row became dead letters, the first at offset %d (on_failure.stop_after), and this one would be the next: %s", w.InRow.N, w.InRow.First, l.Reason))
	}
	return nil
}

// count counts a record that is not a dead letter.
func (w *Decision) count(o wire.Outcome) {
	switch o {
	case wire.Resent:
		w.Result.Duplicates++
	case wire.Ignored:
		w.Result.Ignored++
	default:
		w.Result.Applied++
		w.InRow = ledger.InRow{}
	}
}

// told returns the outcome that is passed to hooks.
var told = map[wire.Outcome]hook.Outcome{wire.Applied: hook.Applied, wire.Resent: hook.Duplicate, wire.Ignored: hook.Ignored}

func dead(l *deadletter.Letter) hook.Outcome {
	if l.Waits {
		return hook.Waiting
	}
	if l.Conflict {
		return hook.Conflict
	}
	return hook.Dead
}

// addLetter counts and keeps a dead letter or a parked record.
func (w *Decision) addLetter(l deadletter.Letter) {
	w.Moves = append(w.Moves, l.Moves()...)
	if l.Waits {
		w.Result.Waiting++
		w.Letters = append(w.Letters, l)
		return
	}
	if l.Conflict {
		w.Result.Conflicts++
	} else {
		w.Result.Dead++
	}
	if w.InRow.N++; w.InRow.N == 1 {
		w.InRow.First = l.Message.Offset
	}
	w.Letters = append(w.Letters, l)
}

// Plain reports whether every step is a statement, so the whole transaction fits in one round
// trip. Any other stage runs between BEGIN and COMMIT.
func (w *Decision) Plain() bool {
	return !slices.ContainsFunc(w.Steps, func(s wire.Step) bool { return s.Stage != wire.Statement })
}

// Next returns the offset after the last record; 0 if there is none.
func (w *Decision) Next() int64 {
	if n := len(w.Records); n > 0 {
		return w.Records[n-1].Offset + 1
	}
	return 0
}

// Epoch returns the last known leader epoch of the records.
func (w *Decision) Epoch(before int32) int32 {
	if n := len(w.Records); n > 0 {
		return w.Records[n-1].LeaderEpoch
	}
	return before
}

// waits reports whether a record waits behind a dead letter of its record key.
func (w *Decision) waits(m *wire.Message, f *Facts) bool {
	if f.Replay || f.Parked.None() && len(w.Moves) == 0 {
		return false // hashing the record key is expensive
	}
	key := deadletter.OrderKey(m)
	return key != nil && !w.queue(*key, f).Empty()
}

// queue is the letters of a record key that others wait behind, once the records that were decided
// so far are passed.
func (w *Decision) queue(key wire.UUID, f *Facts) (q deadletter.Queue) {
	if f.Parked != nil {
		q, _ = f.Parked.Find(key)
	}
	for _, m := range w.Moves {
		if m.Key == key {
			q = q.Moved(m)
		}
	}
	return q
}
