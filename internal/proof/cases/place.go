package cases

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// place is where the event says what makes its record a dead letter, as far as that is known.
func place(t *model.Topic, e *syntax.CaseEvent, found oracle.Outcome) syntax.Pos {
	path := found.Path
	if inside, ok := strings.CutPrefix(path, "result."); ok && e.Result != nil && (found.Class == oracle.ClassEffect || (e.Value == nil || e.Value.Get("result") == nil)) {
		return below(e.Result, inside).Pos
	}
	if said := returnOf(e); said != nil && (found.Class == oracle.ClassEffect || found.Class == oracle.ClassInterrupted) {
		return said.at
	}
	if found.Class == oracle.ClassUnknown && len(t.EventType) > 0 {
		path = strings.Join(t.EventType[0].Path, ".")
		if t.EventType[0].Header != "" {
			path = "header " + t.EventType[0].Header
		}
	}
	if name, ok := strings.CutPrefix(path, "header "); ok {
		if i := slices.IndexFunc(e.Headers, func(h syntax.CaseHeader) bool { return h.Name.Value == name }); i >= 0 {
			return e.Headers[i].Name.Pos
		}
		return e.Pos
	}
	if inside, ok := strings.CutPrefix(path, "record key"); ok {
		if e.Key == nil {
			return e.Pos
		}
		return below(e.Key, strings.TrimPrefix(inside, ".")).Pos
	}
	switch {
	case strings.HasPrefix(path, "record "):
		return e.Pos
	case e.Text != nil:
		return e.Text.Pos
	}
	return below(e.Value, path).Pos
}

// below is the value at a path as errors write it, lines[2].sku; what holds it if there is none.
func below(n *syntax.Node, path string) *syntax.Node {
	for _, p := range n.Pairs {
		rest, ok := strings.CutPrefix(path, p.Key)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return below(p.Value, strings.TrimPrefix(rest, "."))
		}
	}
	if index, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]"); ok && n.Kind == syntax.ListNode {
		if i, err := strconv.Atoi(index); err == nil && i < len(n.Items) {
			return below(n.Items[i], strings.TrimPrefix(rest, "."))
		}
	}
	return n
}

// hide keeps the values of sensitive fields out of what is shown of the event.
func (r *reader) hide(t *model.Topic, e *syntax.CaseEvent) {
	for _, event := range t.Events {
		if event.Returns() && e.Result != nil && slices.ContainsFunc(event.Effect.Result.Fields, (*model.Field).HoldsSensitive) {
			r.hideAll(e.Result)
		}
		for _, f := range event.Fields {
			if f.HoldsSensitive() {
				r.hideField(t, e, f)
			}
		}
	}
}

func (r *reader) hideField(t *model.Topic, e *syntax.CaseEvent, f *model.Field) {
	switch f.Source.Kind {
	case model.FromHeader:
		for _, h := range e.Headers {
			if h.Name.Value == f.Source.Header && h.Value != nil {
				r.report.Mask(h.Value.Pos)
			}
		}
	case model.FromRecordKey:
		r.hideAll(e.Key)
	case model.FromRecord:
		if f.Source.Record == "key" {
			r.hideAll(e.Key)
		}
	}
	inValue := f.Source.Kind == model.FromPayload || f.Source.Kind == model.FromRecord && f.Source.Record == "value"
	switch {
	case !inValue:
	case e.Text != nil:
		r.report.Mask(e.Text.Pos)
	default:
		at := e.Value
		for _, name := range f.Source.Path {
			if at != nil {
				at = at.Get(name)
			}
		}
		r.hideAll(at)
	}
}

// hideAll hides every text of a value.
func (r *reader) hideAll(n *syntax.Node) {
	if n == nil {
		return
	}
	if n.Kind == syntax.ScalarNode {
		r.report.Mask(n.Pos)
	}
	for _, p := range n.Pairs {
		r.hideAll(p.Value)
	}
	for _, item := range n.Items {
		r.hideAll(item)
	}
}
