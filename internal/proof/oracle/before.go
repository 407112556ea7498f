package oracle

import (
	"errors"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Insert adds a row that is there before the records, or says why it cannot be added.
func (in *Interpreter) Insert(r model.Row) error {
	var set []assigned
	for _, a := range r.Set {
		at := assigned{column: a.Column}
		if a.Value.Kind == model.ConstValue {
			var f *fault
			if at.cell, f = constant(a.Column, a.Value.Const.Text); f != nil {
				return errors.New(r.Table.Name + ": " + a.Column.Name + ": " + f.detail)
			}
		}
		set = append(set, at)
	}
	tx := &tx{store: in.tables}
	f := tx.insert(in.tables.byDef[r.Table], set)
	if f == nil {
		f = tx.checkForeignKeys()
	}
	if f != nil {
		tx.undo()
		return errors.New(f.detail)
	}
	return nil
}

// Constant reads a constant by the type of its column and returns it in the form of Expected, or
// says why it does not fit.
func Constant(c *model.Column, text string) (string, error) {
	got, f := constant(c, text)
	if f != nil {
		return "", errors.New(strings.TrimPrefix(f.detail, "constant: "))
	}
	return format(c.Type, got), nil
}
