package seedlog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// This file reads rows out of records on its own: it knows nothing of how the log was made.

// touch is one row that a record writes, or names as a parent.
type touch struct {
	table *model.Table
	reads bool
	exact bool // every column of values identifies the row
	cells map[*model.Column]string
}

// touches reads a record's rows.
func touches(t *testing.T, e *model.Event, r seedlog.Record) []touch {
	t.Helper()
	var payload, key any
	decode := func(data []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		return v
	}
	if r.Value != nil && json.Valid(r.Value) { // a raw payload has no members
		payload = decode(r.Value)
	}
	if rk := e.Topic.RecordKey; rk != nil && rk.JSON {
		key = decode(r.Key)
	}
	read := func(f *model.Field) any {
		switch f.Source.Kind {
		case model.FromHeader:
			for _, h := range r.Headers {
				if h.Name == f.Source.Header {
					return string(h.Value)
				}
			}
			return nil
		case model.FromRecordKey:
			if key != nil {
				return descend(key, f.Source.Part.Path)
			}
			return string(r.Key)
		case model.FromRecord:
			if f.Source.Record == "topic" {
				return r.In(e.Topic)
			}
			return "record " + f.Source.Record
		}
		return descend(payload, f.Source.Path)
	}
	var out []touch
	for _, s := range e.Steps {
		elements := []any{nil}
		if s.Each != nil {
			elements, _ = read(s.Each).([]any)
		}
		for i, el := range elements {
			value := func(v model.Value) string {
				switch {
				case v.Kind == model.FieldValue:
					return text(read(v.Field))
				case v.Kind == model.ElemValue && v.Field == nil:
					return text(el)
				case v.Kind == model.ElemValue:
					return text(descend(el, v.Field.Source.Path))
				case v.Kind == model.PositionValue:
					return fmt.Sprint(i + 1)
				case v.Kind == model.ConstValue:
					return v.Const.Text
				}
				return ""
			}
			out = append(out, rowsOf(s, value)...)
		}
	}
	return out
}

// rowsOf is the row of a step and the parents that it names.
func rowsOf(s *model.Step, value func(model.Value) string) []touch {
	own := touch{table: s.Table, cells: map[*model.Column]string{}}
	assigns := s.Where
	if s.Verb == "insert" || s.Verb == "upsert" {
		assigns = s.Set
	} else {
		own.exact = true
	}
	for _, a := range assigns {
		own.cells[a.Column] = value(a.Value)
	}
	out := []touch{own}
	for _, fk := range s.Table.ForeignKeys {
		parent := touch{table: fk.References, reads: true, exact: true, cells: map[*model.Column]string{}}
		for i, c := range fk.Columns {
			at := slices.IndexFunc(s.Set, func(a model.Assign) bool { return a.Column == c })
			if at < 0 || value(s.Set[at].Value) == "" {
				parent.cells = nil
				break
			}
			parent.cells[fk.References.PrimaryKey[i]] = value(s.Set[at].Value)
		}
		if parent.cells != nil {
			out = append(out, parent)
		}
	}
	return out
}

func descend(v any, path []string) any {
	for _, name := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

// text is "" for what is absent or null.
func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// shared returns the identity of a row that both touch and one writes, or "".
func shared(as, bs []touch) string {
	for _, a := range as {
		for _, b := range bs {
			if a.table != b.table || a.reads && b.reads {
				continue
			}
			for _, columns := range identities(a, b) {
				if id := sameRow(a, b, columns); id != "" {
					return a.table.Name + " " + id
				}
			}
		}
	}
	return ""
}

// identities are the column sets by which two touches can be told to meet on one row.
func identities(a, b touch) [][]*model.Column {
	sets := append([][]*model.Column{a.table.PrimaryKey}, a.table.Unique...)
	for _, x := range []touch{a, b} {
		if x.exact {
			var columns []*model.Column
			for _, c := range x.table.Columns {
				if _, ok := x.cells[c]; ok {
					columns = append(columns, c)
				}
			}
			sets = append(sets, columns)
		}
	}
	return sets
}

func sameRow(a, b touch, columns []*model.Column) string {
	var id []string
	for _, c := range columns {
		x, okA := a.cells[c]
		y, okB := b.cells[c]
		if !okA || !okB || x != y || x == "" || strings.HasPrefix(x, "record ") {
			return ""
		}
		id = append(id, x)
	}
	return strings.Join(id, " ")
}
