package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// change writes the statement on the table.
func (a *addition) change() (string, error) {
	if a.step.Makes {
		return a.insert()
	}
	least, err := a.atLeast("t.", a.Sums.Name+".")
	if err != nil {
		return "", err
	}
	where := append(slices.Clone(a.where), least...)
	return render("add_update", map[string]any{"Table": a.Table, "Events": a.Sums.Name, "Update": a.update(a.Sums.Name + "."), "Where": where})
}

// insert makes the rows that are missing.
func (a *addition) insert() (string, error) {
	var columns, values []string
	for _, as := range a.step.Set {
		name := columnIdent(as.Column)
		columns = append(columns, name)
		if as.How != model.Keeps || as.Value.Sent() {
			values = append(values, name)
			continue
		}
		text, err := typedFixed(as)
		if err != nil {
			return "", err
		}
		values = append(values, text+" AS "+name)
	}
	guard, err := a.atLeast("t.", "excluded.")
	if err != nil {
		return "", err
	}
	where, err := a.startsHigh()
	if err != nil {
		return "", err
	}
	return render("add_insert", map[string]any{
		"Table": a.Table, "Columns": columns, "Select": values, "Events": a.Sums.Name, "Where": where, "Order": a.Sums.Keys,
		"Keys": a.Sums.Keys, "Update": a.update("excluded."), "Guard": guard,
	})
}

func (a *addition) update(from string) (out []string) {
	for _, as := range a.step.Set {
		if isSum(as) {
			name := columnIdent(as.Column)
			out = append(out, name+" = t."+name+" + "+from+name)
		}
	}
	return out
}

// atLeast are the conditions of if_below: skip.
func (a *addition) atLeast(stored, added string) (out []string, err error) {
	if a.step.If.Below != "skip" {
		return nil, nil
	}
	for _, l := range a.step.If.AtLeast {
		least, err := fixed(l)
		if err != nil {
			return nil, err
		}
		name := columnIdent(l.Column)
		out = append(out, stored+name+" + "+added+name+" >= "+least)
	}
	return out, nil
}

// startsHigh is the condition of if_below: skip for a row that is not there yet.
func (a *addition) startsHigh() ([]string, error) {
	if a.step.If.Below != "skip" {
		return nil, nil
	}
	text := ""
	for i, l := range a.step.If.AtLeast {
		least, err := fixed(l)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text += " AND "
		}
		text += a.Sums.Name + "." + columnIdent(l.Column) + " >= " + least
	}
	if len(a.step.If.AtLeast) > 1 {
		text = "(" + text + ")"
	}
	return []string{text + " OR EXISTS (SELECT FROM " + a.Table + " AS t WHERE " + all(0, a.where) + ")"}, nil
}
