package sqlcode

import (
	"github.com/idemgen/idemgen/generator/model"
)

// change writes the statement on the table.
func (a *addition) change() (string, error) {
	if a.step.Makes {
		return a.insert()
	}
	where := a.where
	least, err := a.atLeast("t.", a.Events+".")
	if err != nil {
		return "", err
	}
	where = append(where[:len(where):len(where)], least...)
	return render("add_update", map[string]any{"Table": a.Table, "Events": a.Events, "Update": a.update(a.Events + "."), "Where": where})
}

// insert makes the rows that are missing.
func (a *addition) insert() (string, error) {
	var columns, values []string
	for _, as := range a.step.Set {
		name := ident(as.Column.Name)
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
		"Table": a.Table, "Columns": columns, "Select": values, "Events": a.Events, "Where": where, "Order": a.Keys,
		"Keys": a.Keys, "Update": a.update("excluded."), "Guard": guard,
	})
}

func (a *addition) update(from string) (out []string) {
	for _, as := range a.sums {
		name := ident(as.Column.Name)
		out = append(out, name+" = t."+name+" + "+from+name)
	}
	return out
}

// atLeast are the conditions of if_below: skip.
func (a *addition) atLeast(stored, added string) (out []string, err error) {
	if a.step.IfBelow != "skip" {
		return nil, nil
	}
	for _, l := range a.step.AtLeast {
		least, err := fixed(l)
		if err != nil {
			return nil, err
		}
		name := ident(l.Column.Name)
		out = append(out, stored+name+" + "+added+name+" >= "+least)
	}
	return out, nil
}

// startsHigh is the condition of if_below: skip for a row that is not there yet.
func (a *addition) startsHigh() ([]string, error) {
	if a.step.IfBelow != "skip" {
		return nil, nil
	}
	text := ""
	for i, l := range a.step.AtLeast {
		least, err := fixed(l)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text += " AND "
		}
		text += a.Events + "." + ident(l.Column.Name) + " >= " + least
	}
	if len(a.step.AtLeast) > 1 {
		text = "(" + text + ")"
	}
	return []string{text + " OR EXISTS (SELECT FROM " + a.Table + " AS t WHERE " + all(0, a.where) + ")"}, nil
}

// refusals are the rows that are missing, and the sums that are below at_least.
func (a *addition) refusals() {
	s, table := a.step, quote(a.step.Table.Name)
	for _, k := range a.Keys {
		a.Returning = append(a.Returning, "t."+k)
	}
	if !s.Makes && s.IfMissing == "error" {
		found := "NOT EXISTS (SELECT FROM " + a.Done + a.matches(" WHERE ") + ")"
		if s.IfBelow == "skip" { // what is skipped is there
			found = "NOT EXISTS (SELECT FROM " + a.Table + " AS t WHERE " + all(0, a.where) + ")"
		}
		a.Refusals = append(a.Refusals, refusal{[]string{"'no row with this key'", table, "NULL"}, a.Events, []string{found}})
	}
	for _, g := range a.guarded() {
		name := ident(g.Column.Name)
		a.Returning = append(a.Returning, "t."+name)
		least, _ := fixed(g) // a constant that was read before
		low := a.Done + "." + name + " - " + a.Events + "." + name + " + " + a.Events + "." + a.beside(g.Column, "_low") + " < " + least
		where := []string{low}
		if on := a.matches(""); on != "" {
			where = []string{on, low}
		}
		a.Refusals = append(a.Refusals, refusal{[]string{"'a sum below at_least'", table, quote(g.Column.Name)}, a.Done + ", " + a.Events, where})
	}
	if len(a.Returning) == 0 {
		a.Returning = []string{"true AS done"}
	}
}

// matches is the condition by which a changed row finds its sums.
func (a *addition) matches(prefix string) string {
	var on []string
	for _, k := range a.Keys {
		on = append(on, a.Done+"."+k+" = "+a.Events+"."+k)
	}
	if len(on) == 0 {
		return ""
	}
	return prefix + all(0, on)
}
