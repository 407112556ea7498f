package oracle

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Interpreter applies records to tables that it holds in memory.
type Interpreter struct {
	service  *model.Service
	topics   map[string]*model.Topic
	tables   *store
	filled   map[*model.Column]bool // see filledByDatabase
	claimed  map[string]string      // idempotency key -> content of the event that took effect
	handlers map[string]func(*Tables, Values) error
	stopped  map[partition]Outcome
	parked   map[place]bool // record keys with a dead letter behind which later records wait
	dead     []deadLetter
}

type partition struct {
	topic  string
	number int32
}

// place is a record key of a partition.
type place struct {
	partition
	key string
}

// New returns an interpreter with empty tables.
func New(s *model.Service) *Interpreter {
	in := &Interpreter{service: s, topics: map[string]*model.Topic{}, filled: filledByDatabase(s)}
	for _, t := range s.Topics {
		for _, name := range t.Kafka {
			in.topics[name] = t
		}
	}
	return in.Fresh()
}

// Fresh returns an interpreter of the same service with empty tables and without handlers.
func (in *Interpreter) Fresh() *Interpreter {
	return &Interpreter{
		service: in.service, topics: in.topics, filled: in.filled, tables: newStore(in.service.Tables), claimed: map[string]string{},
		handlers: map[string]func(*Tables, Values) error{}, stopped: map[partition]Outcome{}, parked: map[place]bool{},
	}
}

// Handle stands in for the Go handler of an event, named by its Go name. It runs after
// the write steps; an error undoes the event and makes a dead letter of class handler.
// Without it a handled event has the effect of its write steps only.
func (in *Interpreter) Handle(event string, fn func(t *Tables, e Values) error) {
	in.handlers[event] = fn
}

// Apply reads one record. Records of a partition must come in the order of their
// offsets, each once: redelivery is not the interpreter's business.
func (in *Interpreter) Apply(r Record) Outcome {
	t := in.topic(r.Topic)
	if t == nil {
		return Outcome{Kind: Ignored}
	}
	p := partition{r.Topic, r.Partition}
	if out, ok := in.stopped[p]; ok {
		return out
	}
	at := place{p, string(r.Key)}
	out := Outcome{Kind: DeadLetter, Class: ClassParked, Detail: "a record of its record key is a dead letter"}
	if !in.parked[at] {
		out = in.record(t, &r)
	}
	switch out.Kind {
	case Stop:
		in.stopped[p] = out
	case DeadLetter, Conflict:
		in.parked[at] = in.parked[at] || r.Key != nil && t.OnFailure.Park
		in.dead = append(in.dead, deadLetter{r.Topic, r.Partition, r.Offset, out.Class, out.Path})
	}
	return out
}

// Try applies a record if it takes effect. A record that does not leaves no trace: it is no dead
// letter, stops nothing, and none waits behind it.
func (in *Interpreter) Try(r Record) Outcome {
	t := in.topic(r.Topic)
	if t == nil {
		return Outcome{Kind: Ignored}
	}
	return in.record(t, &r)
}

// Release lets a partition go on behind the record that stopped it, as an operator does who
// skips that record.
func (in *Interpreter) Release(topic string, number int32) {
	delete(in.stopped, partition{topic, number})
}

func (in *Interpreter) record(t *model.Topic, r *Record) Outcome {
	e, key, out := in.take(t, r)
	if out.Kind != 0 {
		return out
	}
	out = in.effect(e, key)
	out.Event, out.Key = e.def.GoName, printableKey(key)
	return out
}

// take reads a record as an event. The outcome is that of a record that is none, or cannot be
// read; the event is nil then if nothing tells which it is.
func (in *Interpreter) take(t *model.Topic, r *Record) (e *event, key string, out Outcome) {
	var f *fault
	if !in.tooLarge(r) {
		if r, f = in.unpack(t, r); f != nil {
			return nil, "", refuse(f, t, nil)
		}
	}
	p := &payload{record: r}
	def, f := in.dispatch(t, r, p)
	switch {
	case f != nil:
		return nil, "", refuse(f, t, nil)
	case def == nil:
		return nil, "", Outcome{Kind: Ignored}
	}
	e, f = in.read(def, r, p)
	if f == nil {
		key, f = e.key()
	}
	if f != nil {
		return e, "", refuse(f, t, def)
	}
	return e, key, Outcome{}
}

func (in *Interpreter) tooLarge(r *Record) bool {
	most := in.service.Limits.MaxPayload
	return most > 0 && int64(len(r.Value)) > most
}

// refuse turns a fault into a dead letter, or into a stop where the topic says give_up: stop. def
// is the record's event, if that is known.
func refuse(f *fault, t *model.Topic, def *model.Event) Outcome {
	out := Outcome{Kind: DeadLetter, Class: f.class, Path: f.path, Detail: f.detail, Type: f.unknown, Refused: f.class == ClassDatabase}
	if f.class == ClassConflict {
		out.Kind = Conflict
	}
	if t.OnFailure.GiveUp == "stop" {
		out.Kind = Stop
	}
	if def != nil {
		out.Event = def.GoName
	}
	return out
}

// effect claims the key, if there is one, and runs the steps: all of it, or nothing.
func (in *Interpreter) effect(e *event, key string) Outcome {
	if e.def.Returns() && e.result == nil {
		return refuse(&fault{class: ClassEffect, detail: "nobody says what the effect returns"}, e.def.Topic, e.def)
	}
	rows, f := e.rows()
	if f != nil {
		return refuse(f, e.def.Topic, e.def)
	}
	if old, known := in.claimed[key]; known && old != e.content() {
		return refuse(&fault{class: ClassConflict, detail: "the key has taken effect with other content"}, e.def.Topic, e.def)
	} else if known {
		return Outcome{Kind: Duplicate}
	}
	tx := &tx{store: in.tables}
	if f := in.run(tx, e, rows); f != nil {
		tx.undo()
		return refuse(f, e.def.Topic, e.def)
	}
	if key != "" {
		in.claimed[key] = e.content()
	}
	return Outcome{Kind: Applied}
}

func (in *Interpreter) run(tx *tx, e *event, rows []stepRow) *fault {
	if f := tx.steps(rows); f != nil {
		return f
	}
	if f := tx.checkForeignKeys(); f != nil {
		return f
	}
	fn := in.handlers[e.def.GoName]
	if !e.def.Handle || fn == nil {
		return nil
	}
	if err := fn(&Tables{tx}, Values{e.def, e.values}); err != nil {
		return &fault{class: ClassHandler, detail: err.Error()}
	}
	if f := tx.checkForeignKeys(); f != nil {
		return &fault{class: ClassHandler, detail: f.detail}
	}
	return nil
}

// payload is a record's value, parsed when somebody first needs it.
type payload struct {
	record *Record
	done   bool
	root   *node
	err    *fault
	trail  []string // the way to err
}

func (p *payload) parse(maxDepth int) {
	if !p.done {
		p.root, p.err, p.trail = parseTrail(p.record.Value, maxDepth)
		p.done = true
	}
}

// dispatch finds the event of a record. No event and no fault: it is passed over.
func (in *Interpreter) dispatch(t *model.Topic, r *Record, p *payload) (*model.Event, *fault) {
	event := func(is func(*model.Event) bool, skip bool, class, detail string) (*model.Event, *fault) {
		if i := slices.IndexFunc(t.Events, is); i >= 0 {
			return t.Events[i], nil
		}
		if skip {
			return nil, nil
		}
		return nil, &fault{class: class, detail: detail}
	}
	switch {
	case r.Value == nil:
		return event(func(e *model.Event) bool { return e.Tombstone }, t.SkipTombstone, ClassTombstone, "the topic has no tombstone event")
	case in.tooLarge(r):
		return nil, &fault{class: ClassTooLarge, detail: "longer than max_payload"}
	case len(t.EventType) == 0:
		return event(func(e *model.Event) bool { return !e.Tombstone }, t.SkipUnknown, ClassUnknown, "the topic has only a tombstone event")
	}
	text, f := in.typeText(t, r, p)
	if f != nil || slices.Contains(t.Ignore, text) {
		return nil, f
	}
	def, f := event(func(e *model.Event) bool { return slices.Contains(e.Types, text) }, t.SkipUnknown, ClassUnknown, "no event has this type")
	if f != nil {
		f.unknown = text
	}
	return def, f
}
