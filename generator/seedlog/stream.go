package seedlog

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// positions count the rows that the log's records append to each stream, so that a record can say
// which position it expects.
type positions map[string]int

// expects finds the fields that say a position.
func (r *roles) expects(e *model.Event, f *model.Field) *model.Step {
	for _, s := range e.Steps {
		if s.Stream == nil {
			continue
		}
		for _, a := range s.Set {
			if a.Column == s.Stream.Position && a.Value.Field == f {
				return s
			}
		}
	}
	return nil
}

// expects reports whether the step's event says a position.
func expects(s *model.Step) bool {
	return s.Stream != nil && slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == s.Stream.Position && a.Value.Sent() })
}

// position is the one that the record expects: the next, or of a copy the one before.
func (w *writer) position(s *model.Step) int {
	last := w.positions[w.streamOf(s)]
	switch {
	case w.now.large:
		return last + 3
	case w.now.void:
		return last
	}
	return last + 1
}

// append counts what the record appends if it takes effect.
func (w *writer) append(v visit) {
	if v.void {
		return
	}
	for i, s := range v.event.Steps {
		if s.Stream == nil || v.ran != nil && !v.ran[i] {
			continue
		}
		rows := 1
		if s.Each != nil {
			rows = w.length(s.Each)
		}
		w.positions[w.streamOf(s)] += rows
	}
}

// streamOf names the stream to which a step of the record appends.
func (w *writer) streamOf(s *model.Step) string {
	parts := []string{s.Table.Name}
	for _, a := range s.Set {
		if !slices.Contains(s.Stream.Columns, a.Column) {
			continue
		}
		switch v := a.Value; {
		case v.Kind == model.ConstValue:
			parts = append(parts, v.Const.Text)
		case v.Field != nil && partOf(v.Field) != nil:
			parts = append(parts, w.partText(w.now.event, partOf(v.Field)))
		case v.Kind == model.FieldValue:
			parts = append(parts, w.text(v.Field.Type, v.Field, v.Field))
		}
	}
	return strings.Join(parts, "\x00")
}

// onlyAppended reports whether the step appends to a stream, and all that the topic does to its
// table is that.
func (r *roles) onlyAppended(s *model.Step) bool {
	return s.Stream != nil && !slices.ContainsFunc(r.topic.Flush, func(o *model.Step) bool {
		return o.Table == s.Table && o.Stream == nil || slices.ContainsFunc(o.Table.ForeignKeys, func(fk model.ForeignKey) bool { return fk.References == s.Table })
	})
}
