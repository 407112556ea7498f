package state

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// tablesAfter are the tables as the migrations of this run leave them. Of a table that is external
// by now, they leave what they made of it before.
func tablesAfter(old *State, s *model.Service) (all []Table) {
	for _, t := range s.Tables {
		if !t.External {
			all = append(all, table(t))
			continue
		}
		if old != nil {
			all = append(all, old.named(t.Name)...)
		}
	}
	return all
}

// named is the table of a name, if there is one.
func (s *State) named(name string) []Table {
	i := slices.IndexFunc(s.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return s.Tables[i : i+1]
}

// tablePlace is where a table is in the database; "" if it is where its name says.
func tablePlace(t *model.Table) string {
	switch {
	case t.Schema == "" && t.Stored == "":
		return ""
	case t.Schema == "":
		return strconv.Quote(t.InDatabase())
	}
	return strconv.Quote(t.Schema) + "." + strconv.Quote(t.InDatabase())
}

// table returns the definitions of one table.
func table(t *model.Table) Table {
	def := Table{Name: t.Name, PrimaryKey: columnNames(t.PrimaryKey), Place: tablePlace(t)}
	for _, c := range t.Columns {
		def.Columns = append(def.Columns, Entry{c.Name, columnDef(c)})
	}
	for _, u := range t.Unique {
		def.Unique = append(def.Unique, columnNames(u))
	}
	for _, k := range t.ForeignKeys {
		def.ForeignKeys = append(def.ForeignKeys, columnNames(k.Columns)+" references "+k.References.Name+" on delete "+k.OnDelete)
	}
	return def
}

func columnNames(columns []*model.Column) string {
	return strings.Join(model.ColumnNames(columns), ", ")
}

// columnDef is everything of a column that its table in the database shows.
func columnDef(c *model.Column) string {
	def := c.Type.String()
	if c.Nullable {
		def = "nullable " + def
	}
	switch {
	case c.Default != nil && c.Default.Const != nil:
		def += " default " + strconv.Quote(c.Default.Const.Text)
	case c.Default != nil:
		def += " default " + c.Default.Func
	case c.Identity:
		def += " identity"
	}
	return def + storedName(c.Stored)
}
