package oracle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Row gives columns their values: a value from [Values.Get], a string in the form of
// constants of the spec, an int, a bool, or nil for NULL.
type Row map[string]any

// Values are the fields of an event.
type Values struct {
	def    *model.Event
	values map[*model.Field]value
}

// Get returns a field's value for use in a [Row]; nil for NULL or an unknown field.
func (v Values) Get(field string) any {
	for _, f := range v.def.Fields {
		if f.Name == field {
			return v.values[f]
		}
	}
	return nil
}

// Text returns a field's value as text: what a constant of the spec would look like.
// NULL is the empty text.
func (v Values) Text(field string) string {
	switch got := v.Get(field).(type) {
	case nil:
		return ""
	case string:
		return got
	default:
		return format(model.ColType{}, got)
	}
}

// Content writes a field's value so that two values are equal exactly if their texts are: a word
// for its kind, the length of its text, and the text.
func (v Values) Content(field string) string { return content(v.Get(field)) }

// Tables is what a handler changes. Its changes belong to the event: if the handler
// returns an error, they and the event's write steps are undone.
type Tables struct{ tx *tx }

// Insert adds a row; columns not named get their default.
func (t *Tables) Insert(table string, r Row) error {
	def, set, err := t.resolve(table, r)
	if err != nil {
		return err
	}
	return asError(t.tx.insert(def, set))
}

// Update changes the rows that where names and returns how many they were.
func (t *Tables) Update(table string, where, set Row) (int, error) {
	def, sets, err := t.resolve(table, set)
	if err != nil {
		return 0, err
	}
	found, err := t.find(table, where)
	for _, r := range found {
		err = errors.Join(err, asError(t.tx.update(def, r, sets)))
	}
	return len(found), err
}

// Delete removes the rows that where names and returns how many they were.
func (t *Tables) Delete(table string, where Row) (int, error) {
	found, err := t.find(table, where)
	for _, r := range found {
		err = errors.Join(err, asError(t.tx.remove(t.tx.store.named(table), r)))
	}
	return len(found), err
}

// Select returns one column of the rows that where names, in primary key order, in the
// form of Expected.
func (t *Tables) Select(table, column string, where Row) ([]string, error) {
	found, err := t.find(table, where)
	if err != nil {
		return nil, err
	}
	def := t.tx.store.named(table)
	at := slices.IndexFunc(def.def.Columns, func(c *model.Column) bool { return c.Name == column })
	if at < 0 {
		return nil, fmt.Errorf("table %s has no column %s", table, column)
	}
	var out []string
	for _, r := range found {
		out = append(out, format(def.def.Columns[at].Type, r.cells[at]))
	}
	return out, nil
}

func (t *Tables) find(table string, where Row) ([]*row, error) {
	def, cells, err := t.resolve(table, where)
	if err != nil {
		return nil, err
	}
	return def.find(cells), nil
}

func (t *Tables) resolve(name string, r Row) (*table, []assigned, error) {
	def := t.tx.store.named(name)
	if def == nil {
		return nil, nil, fmt.Errorf("no table %s", name)
	}
	var out []assigned
	for _, c := range def.def.Columns {
		v, ok := r[c.Name]
		if !ok {
			continue
		}
		got, f := t.cell(c, v)
		if f != nil {
			return nil, nil, fmt.Errorf("%s.%s: %w", name, c.Name, f)
		}
		out = append(out, assigned{column: c, cell: got})
	}
	if len(out) != len(r) {
		return nil, nil, fmt.Errorf("table %s lacks a column of %v", name, r)
	}
	return def, out, nil
}

func (t *Tables) cell(c *model.Column, v any) (cell, *fault) {
	switch v := v.(type) {
	case string:
		return constant(c, v)
	case int:
		return toCell(c, int64(v))
	}
	return toCell(c, v)
}

func asError(f *fault) error {
	if f == nil {
		return nil
	}
	return f
}
