package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// respelled returns the known tables under the names that the spec has for them and their columns
// now. A name that only the spec changed, while name: keeps that of the database, is no change.
func respelled(known []Table, s *model.Service) []Table {
	all := slices.Clone(known)
	tables := map[string]string{} // new names by former ones
	for i, o := range known {
		if tableOf(s, o.Name) != nil {
			continue
		}
		for _, t := range s.Tables {
			taken := slices.ContainsFunc(known, func(k Table) bool { return k.Name == t.Name })
			if !t.External && !taken && cmp.Or(tablePlace(t), strconv.Quote(t.Name)) == cmp.Or(o.Place, strconv.Quote(o.Name)) {
				tables[o.Name], all[i].Name, all[i].Place = t.Name, t.Name, tablePlace(t)
			}
		}
	}
	for i := range all {
		all[i] = all[i].respelled(tableOf(s, all[i].Name), tables)
	}
	return all
}

func tableOf(s *model.Service, name string) *model.Table {
	i := slices.IndexFunc(s.Tables, func(t *model.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return s.Tables[i]
}

// respelled returns the table with the columns' new names, and those of the tables it refers to.
// now is the table in the spec; nil if it is gone.
func (t Table) respelled(now *model.Table, tables map[string]string) Table {
	columns := map[string]string{}
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		if is := t.follower(c, now); is != nil {
			stored := readColumn(c.Def).stored
			def := strings.TrimSuffix(c.Def, storedName(stored))
			columns[c.Name], t.Columns[i] = is.Name, Entry{is.Name, def + storedName(is.Stored)}
		}
	}
	list := func(names string) string {
		all := strings.Split(names, ", ")
		for i, name := range all {
			all[i] = cmp.Or(columns[name], name)
		}
		return strings.Join(all, ", ")
	}
	t.PrimaryKey = list(t.PrimaryKey)
	t.Unique, t.ForeignKeys = slices.Clone(t.Unique), slices.Clone(t.ForeignKeys)
	for i := range t.Unique {
		t.Unique[i] = list(t.Unique[i])
	}
	for i := range t.ForeignKeys {
		own, other, _ := strings.Cut(t.ForeignKeys[i], " references ")
		parent, on, _ := strings.Cut(other, " on delete ")
		t.ForeignKeys[i] = list(own) + " references " + cmp.Or(tables[parent], parent) + " on delete " + on
	}
	return t
}

// follower is the column of the spec that has another name than a column of the state and is the
// same one in the database; nil if there is none.
func (t Table) follower(c Entry, now *model.Table) *model.Column {
	if now == nil || slices.ContainsFunc(now.Columns, func(n *model.Column) bool { return n.Name == c.Name }) {
		return nil
	}
	for _, n := range now.Columns {
		known := slices.ContainsFunc(t.Columns, func(o Entry) bool { return o.Name == n.Name })
		if !known && n.InDatabase() == cmp.Or(readColumn(c.Def).stored, c.Name) {
			return n
		}
	}
	return nil
}

// storedName is the end of a column's definition that says its name in the database; "" if that is
// its own.
func storedName(stored string) string {
	if stored == "" {
		return ""
	}
	return " name " + strconv.Quote(stored)
}
