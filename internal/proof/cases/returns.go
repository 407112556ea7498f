package cases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// Calls is how many calls of an event's effect there must be.
type Calls struct {
	Event string // its Go name
	Count int
}

// returned reads what the call of the event's effect returns (E156 if that cannot be).
func (r *reader) returned(n int, e *syntax.CaseEvent, event *model.Event, out *seedlog.Record) {
	said := returnOf(e)
	switch {
	case event == nil: // it is refused for that
	case said == nil: // the test calls the service's own effect, if there is one
	case event.Effect == nil:
		r.report.Add(said.at, "E156", fmt.Sprintf("event %d is %s, which has no effect, so no call can return anything", n, wording.Quote(event.Name)), "leave "+said.key+" out")
	case e.Result != nil && !event.Returns() && e.Result.Null():
		out.Result = []byte("null")
	case e.Result != nil && !event.Returns():
		r.report.Add(said.at, "E156", fmt.Sprintf("event %d is %s, whose effect returns only an error", n, wording.Quote(event.Name)),
			"write result: null, or leave result out: then the test calls your own effect")
	case e.Interrupted != nil && !event.Effect.Interrupts:
		r.report.Add(said.at, "E156", fmt.Sprintf("event %d is %s, and if_interrupted: retry repeats the call: no call stays interrupted", n, wording.Quote(event.Name)), "use error for a call that fails permanently")
	case e.Result != nil:
		out.Result = r.result(event, e.Result)
	case e.Error != nil:
		out.Error = cmp.Or(e.Error.Value, "failed")
	default:
		out.Interrupted = cmp.Or(e.Interrupted.Value, "cut off")
	}
}

// saying is the key of an event that says what a call returns.
type saying struct {
	key string
	at  syntax.Pos
}

// returnOf is what an event says of the call; nil if nothing.
func returnOf(e *syntax.CaseEvent) *saying {
	switch {
	case e.Result != nil:
		return &saying{"result", e.Result.Pos}
	case e.Error != nil:
		return &saying{"error", e.Error.Pos}
	case e.Interrupted != nil:
		return &saying{"interrupted", e.Interrupted.Pos}
	}
	return nil
}

// result writes a result by the members of its type.
func (r *reader) result(event *model.Event, n *syntax.Node) []byte {
	t := event.Effect.Result
	if n.Kind != syntax.MapNode {
		r.report.Add(n.Pos, "E106", "result must be a map with the members of "+wording.Quote(t.Name), "write result: {"+strings.Join(required(t), ": ..., ")+": ...}")
		return nil
	}
	f := &form{members: map[string]*form{}}
	var names []string
	for _, m := range t.Fields {
		f.holdsAt(m)
		names = append(names, m.Name)
	}
	for _, p := range n.Pairs {
		if !slices.Contains(names, p.Key) {
			r.report.Add(p.KeyPos, "E207", fmt.Sprintf("type %s has no field %s", wording.Quote(t.Name), wording.Quote(p.Key)), syntax.Choices(p.Key, "fields", names))
			return nil
		}
	}
	return []byte(r.json(n, f))
}

// required are the members that a result must have; all, if it must have none.
func required(t *model.Type) (names []string) {
	for _, f := range t.Fields {
		if !f.Type.Optional {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		names = []string{t.Fields[0].Name}
	}
	return names
}

// outcome is what becomes of the record with what the call returns.
func (r *reader) outcome(t *model.Topic, event *model.Event, out *seedlog.Record) oracle.Outcome {
	_, found := r.in.Read(asRead(t, out))
	class, text := oracle.ClassEffect, out.Error
	if out.Interrupted != "" {
		class, text = oracle.ClassInterrupted, out.Interrupted
	}
	id := event.GoName + " " + found.Key
	if found.Kind != oracle.Applied || text == "" || found.Key != "" && r.applied[id] { // of a copy, the call before counts
		r.applied[id] = r.applied[id] || found.Kind == oracle.Applied
		return found
	}
	found.Kind, found.Class, found.Detail = oracle.DeadLetter, class, text
	if event.OnFailure.GiveUp == "stop" {
		found.Kind = oracle.Stop
	}
	return found
}

// alike refuses a record that is equal to an earlier one, and whose call returns something else:
// the other side of the test knows what to answer by the record.
func (r *reader) alike(n int, e *syntax.CaseEvent, out *seedlog.Record) {
	said := returnOf(e)
	if said == nil {
		return
	}
	id := fmt.Sprintf("%q %q %q %q", out.Topic, out.Key, out.Value, out.Headers)
	returns := fmt.Sprintf("%q %q %q", out.Result, out.Error, out.Interrupted)
	if before, known := r.returns[id]; known && before.text != returns {
		r.report.Add(said.at, "E156", fmt.Sprintf("event %d is the same record as event %d, but its call returns something else", n, before.event), "tests recognize a call by its record: let both return the same, or give one another value")
		return
	}
	r.returns[id] = callSaid{n, returns}
}

// callSaid is what an event of the case says of its call.
type callSaid struct {
	event int
	text  string
}

// calls are how many calls then counts.
func (r *reader) calls() (out []Calls) {
	for _, c := range r.spec.Calls {
		if e := r.called(c.Event); e != nil {
			out = append(out, Calls{e.GoName, c.Count})
		}
	}
	return out
}

// called finds an event with an effect by its name.
func (r *reader) called(name syntax.Text) *model.Event {
	var names []string
	for _, t := range r.service.Topics {
		for _, e := range t.Events {
			switch {
			case e.Name == name.Value && e.Effect == nil:
				r.report.Add(name.Pos, "E156", "event "+wording.Quote(name.Value)+" has no effect, so nothing is called", "count only the calls of effects")
				return nil
			case e.Name == name.Value:
				return e
			case e.Effect != nil:
				names = append(names, e.Name)
			}
		}
	}
	r.report.Add(name.Pos, "E156", "unknown event "+wording.Quote(name.Value), syntax.Choices(name.Value, "events with an effect", names))
	return nil
}
