package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// insert prepares insert and upsert.
func (st *statement) insert() error {
	s := st.step
	if p := s.Params()[0]; p.Column == nil {
		st.add(p)
	}
	for _, a := range s.Set {
		st.Columns = append(st.Columns, ident(a.Column.Name))
		if a.Value.Sent() {
			st.add(a)
			continue
		}
		text, err := typedFixed(a)
		if err != nil {
			return err
		}
		st.Select = append(st.Select, text+" AS "+ident(a.Column.Name))
	}
	if s.Table.Name == "excluded" {
		st.Alias = "t" // excluded is also what Postgres calls the refused row
	} else if s.IfNewer == nil {
		st.Alias = ""
	}
	st.conflict()
	st.order()
	return nil
}

// conflict prepares ON CONFLICT.
func (st *statement) conflict() {
	s := st.step
	switch {
	case s.Verb == model.Insert && s.IfExists == "skip":
		st.By = idents(s.Table.PrimaryKey)
		return
	case s.Verb == model.Insert:
		return
	}
	st.By = idents(s.By)
	for _, a := range s.Set {
		if !slices.Contains(s.By, a.Column) {
			name := ident(a.Column.Name)
			st.Update = append(st.Update, name+" = excluded."+name)
		}
	}
	if s.IfNewer != nil {
		st.Guard = newer(s.IfNewer, "excluded."+ident(s.IfNewer.Name))
	}
}

// order sorts rows by the key whose index entries they lock, so that two transactions
// lock in one order; rows whose key the database makes keep the order of the events.
func (st *statement) order() {
	s := st.step
	key := s.By
	if s.Verb == model.Insert {
		key = s.Table.PrimaryKey
	}
	for _, c := range key {
		if slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == c }) {
			st.Order = append(st.Order, ident(c.Name))
		}
	}
	if len(st.Order) < len(key) {
		st.Order = append(st.Order, st.number())
	}
	if !s.Collapse {
		return
	}
	st.Distinct = st.Order
	st.Order = slices.Clone(st.Order)
	n := st.number()
	if s.IfNewer == nil {
		st.Order = append(st.Order, n+" DESC") // the last wins
	} else { // the newest wins; of equals the first
		st.Order = append(st.Order, ident(s.IfNewer.Name)+" DESC", n)
	}
}

// newer is the guard of if_newer: a stored NULL counts as older.
func newer(c *model.Column, sent string) string {
	stored := "t." + ident(c.Name)
	guard := stored + " < " + sent
	if c.Nullable {
		return stored + " IS NULL OR " + guard
	}
	return guard
}
