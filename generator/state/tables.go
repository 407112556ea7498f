package state

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// table returns the definitions of one table.
func table(t *model.Table) Table {
	def := Table{Name: t.Name, PrimaryKey: columnNames(t.PrimaryKey), Unlogged: t.Unlogged}
	for _, c := range t.Columns {
		def.Columns = append(def.Columns, Entry{c.Name, columnDef(c)})
	}
	for _, u := range t.Unique {
		def.Unique = append(def.Unique, columnNames(u))
	}
	for _, i := range t.Indexes {
		def.Indexes = append(def.Indexes, columnNames(i))
	}
	for _, k := range t.ForeignKeys {
		def.ForeignKeys = append(def.ForeignKeys, columnNames(k.Columns)+" references "+k.References.Name+" on delete "+k.OnDelete)
	}
	return def
}

func columnNames(columns []*model.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// columnDef is everything of a column that its table in the database shows.
func columnDef(c *model.Column) string {
	def := columnType(c.Type)
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
	return def
}

var columnTypes = map[model.ColKind]string{
	model.ColText: "text", model.ColCitext: "citext", model.ColBoolean: "boolean", model.ColSmallint: "smallint",
	model.ColInteger: "integer", model.ColBigint: "bigint", model.ColNumeric: "numeric", model.ColDouble: "double precision",
	model.ColUUID: "uuid", model.ColTimestamptz: "timestamptz", model.ColTimestamp: "timestamp", model.ColDate: "date",
	model.ColBytea: "bytea", model.ColJSONB: "jsonb", model.ColJSON: "json", model.ColTextArray: "text array",
	model.ColIntegerArray: "integer array", model.ColBigintArray: "bigint array", model.ColUUIDArray: "uuid array",
}

func columnType(t model.ColType) string {
	switch {
	case t.Kind == model.ColVarchar:
		return fmt.Sprintf("varchar(%d)", t.Len)
	case t.Kind == model.ColChar:
		return fmt.Sprintf("char(%d)", t.Len)
	case t.Kind == model.ColNumeric && t.Precision > 0:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
	case t.Kind == model.ColNamed:
		return "named(" + t.Name + ")"
	}
	return columnTypes[t.Kind]
}
