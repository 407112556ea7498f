package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// The parts of an idempotency key must differ in every record. A header does, and so
// does a field that names no shared row.

// usedUp reports whether one record per row uses the key of the event up: all its parts are the
// same whenever the row is.
func (r *roles) usedUp(e *model.Event) bool {
	return r.fixed(e, func(f *model.Field) bool { return !r.sameForRow(e, f) })
}

// keyedByRow reports whether the key is used up if rows that differ from record to record
// do not.
func (r *roles) keyedByRow(e *model.Event) bool {
	return r.fixed(e, func(f *model.Field) bool { return !r.sameForRow(e, f) && !r.repeats(e, f) })
}

// fixed reports whether the key of the event has no part that is free to differ.
func (r *roles) fixed(e *model.Event, free func(*model.Field) bool) bool {
	if e.Key == nil || e.Key.Offset {
		return false
	}
	varies := func(p model.KeySource) bool {
		f := keyField(e, p)
		return f == nil || free(f)
	}
	return !slices.ContainsFunc(e.Key.Parts, varies)
}

// keyField is the field that a part of the key is, or that is read from the same header;
// nil if the part is a header that no field reads.
func keyField(e *model.Event, p model.KeySource) *model.Field {
	if p.Field != nil {
		return p.Field
	}
	for _, f := range e.Fields {
		if f.Source.Kind == model.FromHeader && f.Source.Header == p.Header {
			return f
		}
	}
	return nil
}

// repeats reports whether a field that differs from record to record is the same in two records of
// one row: as a part of its primary key. Other unique keys may differ then.
func (r *roles) repeats(e *model.Event, f *model.Field) bool {
	return r.byRecord[byRecord{e, f}] && slices.ContainsFunc(r.steps[e], func(s *model.Step) bool {
		return slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Value.Field == f && slices.Contains(s.Table.PrimaryKey, a.Column) })
	})
}

// sameForRow reports whether the field has one value for one row, or too few values.
func (r *roles) sameForRow(e *model.Event, f *model.Field) bool {
	if r.byRecord[byRecord{e, f}] {
		return false
	}
	return r.class(f).row || f.Type.Kind == model.Enum || f.Type.Kind == model.Bool || f.Source.Kind == model.FromRecord && f.Source.Record == "topic"
}

func (r *roles) versionInKey(e *model.Event) bool {
	if e.Key == nil {
		return false
	}
	for _, p := range e.Key.Parts {
		if f := keyField(e, p); f != nil && r.isVersion(e, f) {
			return true
		}
	}
	return false
}
