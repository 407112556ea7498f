package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// ExternalTables returns the statements that make the tables of others, as the spec has them, for
// the database of a test. Types of the team's own are made of the texts that the spec gives their
// columns. parents are made before children; none of them names another table.
func ExternalTables(tables []*model.Table, texts func(*model.Column) []string) (string, error) {
	made := make([]*model.Table, len(tables))
	copies := map[*model.Table]*model.Table{}
	for i, t := range tables {
		made[i] = filledTable(t, texts)
		copies[t] = made[i]
	}
	for _, t := range made {
		t.ForeignKeys = slices.Clone(t.ForeignKeys)
		for i := range t.ForeignKeys {
			t.ForeignKeys[i].References = copies[t.ForeignKeys[i].References]
		}
	}
	text, err := CreateTables(made)
	return strings.Join(append(typesOf(tables, texts), text), "\n\n") + "\n", err
}

// filledTable is a copy of a table in which something fills the columns that the database fills.
func filledTable(t *model.Table, texts func(*model.Column) []string) *model.Table {
	out := *t
	out.Doc, out.Columns = model.Doc{}, nil
	same := map[*model.Column]*model.Column{}
	for _, c := range t.Columns {
		filled := *c
		filled.Doc = model.Doc{}
		if c.Filled {
			fillColumn(&filled, texts(c))
		}
		same[c] = &filled
		out.Columns = append(out.Columns, &filled)
	}
	all := func(columns []*model.Column) (out []*model.Column) {
		for _, c := range columns {
			out = append(out, same[c])
		}
		return out
	}
	lists := func(keys [][]*model.Column) (out [][]*model.Column) {
		for _, k := range keys {
			out = append(out, all(k))
		}
		return out
	}
	out.PrimaryKey, out.Unique, out.Indexes, out.ForeignKeys = all(t.PrimaryKey), lists(t.Unique), lists(t.Indexes), nil
	for _, fk := range t.ForeignKeys {
		out.ForeignKeys = append(out.ForeignKeys, model.ForeignKey{Columns: all(fk.Columns), References: fk.References, OnDelete: fk.OnDelete})
	}
	return &out
}

// fills are what fills a column of a type in a test, each row another value where it can.
var fills = map[model.ColKind]string{
	model.ColText: "gen_random_uuid()::text", model.ColVarchar: "''", model.ColChar: "''", model.ColCitext: "gen_random_uuid()::text::citext",
	model.ColBoolean: "false", model.ColSmallint: "0", model.ColInteger: "0", model.ColBigint: "0", model.ColNumeric: "0", model.ColDouble: "random()",
	model.ColUUID: "gen_random_uuid()", model.ColTimestamptz: "clock_timestamp()", model.ColTimestamp: "clock_timestamp()", model.ColDate: "current_date",
	model.ColBytea: "''", model.ColJSONB: "'{}'", model.ColJSON: "'{}'",
	model.ColTextArray: "'{}'", model.ColIntegerArray: "'{}'", model.ColBigintArray: "'{}'", model.ColUUIDArray: "'{}'",
}

func fillColumn(c *model.Column, texts []string) {
	switch k := c.Type.Kind; {
	case !c.Nullable && (k == model.ColSmallint || k == model.ColInteger || k == model.ColBigint):
		c.Identity = true
	case k == model.ColNamed && len(texts) == 0:
		c.Default = &model.Default{Func: "''"}
	case k == model.ColNamed:
		c.Default = &model.Default{Func: quote(texts[0])}
	default:
		c.Default = &model.Default{Func: fills[k]}
	}
}

// typesOf makes the types that the team has for columns of these tables, unless they are there.
func typesOf(tables []*model.Table, texts func(*model.Column) []string) []string {
	var names []string
	labels := map[string][]string{}
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.Type.Kind != model.ColNamed {
				continue
			}
			if !slices.Contains(names, c.Type.Name) {
				names = append(names, c.Type.Name)
			}
			for _, text := range texts(c) {
				if !slices.Contains(labels[c.Type.Name], text) {
					labels[c.Type.Name] = append(labels[c.Type.Name], text)
				}
			}
		}
	}
	var parts []string
	for _, name := range names {
		namespace, _, _ := strings.Cut(name, ".")
		parts = append(parts, createSchemas([]string{namespace})...)
		statement := "CREATE DOMAIN " + qualified(name) + " AS text"
		if len(labels[name]) > 0 {
			var all []string
			for _, l := range labels[name] {
				all = append(all, quote(l))
			}
			statement = "CREATE TYPE " + qualified(name) + " AS ENUM (" + list(all) + ")"
		}
		parts = append(parts, unlessThere("SELECT WHERE to_regtype("+quote(qualified(name))+") IS NOT NULL", statement))
	}
	return parts
}
