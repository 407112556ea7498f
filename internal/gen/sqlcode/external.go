package sqlcode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// ExternalTables returns the statements that make the tables of others, as the spec has them, for
// the database of a test. Types of the team's own are made of the texts that are known of their
// columns. parents are made before children; none of them names another table.
func ExternalTables(tables []*model.Table, texts func(*model.Column) []string) (string, error) {
	types := typesOf(tables, texts)
	made := make([]*model.Table, len(tables))
	copies := map[*model.Table]*model.Table{}
	for i, t := range tables {
		made[i] = filledTable(t, types)
		copies[t] = made[i]
	}
	for _, t := range made {
		t.ForeignKeys = slices.Clone(t.ForeignKeys)
		for i := range t.ForeignKeys {
			t.ForeignKeys[i].References = copies[t.ForeignKeys[i].References]
		}
	}
	text, err := CreateTables(made)
	// Where the team's own migrations are applied first, they have made some of the tables.
	text = strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\nCREATE TABLE ", "\nCREATE TABLE IF NOT EXISTS "), "\n")
	return strings.Join(append(createTypes(types), text), "\n\n") + "\n", err
}

// CreateExtension makes the type citext, if a table has a column of it.
func CreateExtension(tables []*model.Table) string {
	for _, t := range tables {
		if slices.ContainsFunc(t.Columns, func(c *model.Column) bool { return c.Type.Name == "citext" }) {
			return "CREATE EXTENSION IF NOT EXISTS citext;\n"
		}
	}
	return ""
}

// OutboxHeaders returns the statements that add a spec's headers to the table of package outbox:
// the columns of type text, but for those that every event has. The migration may have made some.
func OutboxHeaders(t *model.Table) (string, error) {
	var text strings.Builder
	for _, c := range filledTable(t, nil).Columns {
		if c.Type.Kind != model.ColText || slices.Contains([]string{"aggregatetype", "aggregateid", "type"}, c.InDatabase()) {
			continue
		}
		line, err := columnLine(c)
		if err != nil {
			return "", fmt.Errorf("table %s, column %s: %w", t.Name, c.Name, err)
		}
		fmt.Fprintf(&text, "ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s;\n", tableIdent(t), line)
	}
	return text.String(), nil
}

// filledTable is a copy of a table in which something fills the columns that the database fills.
func filledTable(t *model.Table, types []teamType) *model.Table {
	out := *t
	out.Doc, out.Columns = model.Doc{}, nil
	same := map[*model.Column]*model.Column{}
	for _, c := range t.Columns {
		filled := *c
		filled.Doc = model.Doc{}
		if c.Filled {
			fillColumn(&filled, types)
		}
		same[c] = &filled
		out.Columns = append(out.Columns, &filled)
	}
	if id := t.EventID(); t.Outbox() && !slices.Contains(t.Columns, id) {
		made := *id
		fillColumn(&made, types) // for rows of handlers and of cases
		out.Columns = append(out.Columns, &made)
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
	out.PrimaryKey, out.Unique, out.ForeignKeys = all(t.PrimaryKey), lists(t.Unique), nil
	for _, fk := range t.ForeignKeys {
		out.ForeignKeys = append(out.ForeignKeys, model.ForeignKey{Columns: all(fk.Columns), References: fk.References, OnDelete: fk.OnDelete})
	}
	return &out
}

// fills are what fills a column of a type in a test, each row another value where it can.
var fills = map[model.ColKind]string{
	model.ColText: "gen_random_uuid()::text", model.ColVarchar: "''", model.ColChar: "''",
	model.ColBoolean: "false", model.ColSmallint: "0", model.ColInteger: "0", model.ColBigint: "0", model.ColNumeric: "0",
	model.ColReal: "random()", model.ColDouble: "random()",
	model.ColUUID: "gen_random_uuid()", model.ColTimestamptz: "clock_timestamp()", model.ColTimestamp: "clock_timestamp()", model.ColDate: "current_date",
	model.ColBytea: "''", model.ColJSONB: "'{}'", model.ColJSON: "'{}'",
	model.ColArray: "'{}'",
}

func fillColumn(c *model.Column, types []teamType) {
	switch k := c.Type.Kind; {
	case !c.Nullable && (k == model.ColInteger || k == model.ColBigint):
		c.Identity = true
	case k == model.ColNamed:
		of := slices.IndexFunc(types, func(t teamType) bool { return t.name == c.Type.Name })
		c.Default = &model.Default{Func: quote(types[of].texts[0])}
	case k == model.ColParsed:
		c.Default = &model.Default{Func: quote(model.ParsedText(c.Type.Name, 0))}
	default:
		c.Default = &model.Default{Func: fills[k]}
	}
}

// teamType is a type that the team has for columns of these tables. In a test it is an enum.
type teamType struct {
	name  string   // schema.type
	texts []string // never none: of a type of which no text is known it is the empty one
}

// typesOf are the types of the team's own in these tables.
func typesOf(tables []*model.Table, texts func(*model.Column) []string) (types []teamType) {
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.Type.Kind != model.ColNamed {
				continue
			}
			at := slices.IndexFunc(types, func(t teamType) bool { return t.name == c.Type.Name })
			if at < 0 {
				at, types = len(types), append(types, teamType{name: c.Type.Name})
			}
			for _, text := range texts(c) {
				if !slices.Contains(types[at].texts, text) {
					types[at].texts = append(types[at].texts, text)
				}
			}
		}
	}
	for i := range types {
		if types[i].texts == nil {
			types[i].texts = []string{""}
		}
	}
	return types
}

// createTypes makes them, unless they are there.
func createTypes(types []teamType) (parts []string) {
	for _, t := range types {
		namespace, _, _ := strings.Cut(t.name, ".")
		parts = append(parts, createSchemas([]string{namespace})...)
		var all []string
		for _, text := range t.texts {
			all = append(all, quote(text))
		}
		parts = append(parts, unlessThere("SELECT WHERE to_regtype("+quote(qualified(t.name))+") IS NOT NULL",
			"CREATE TYPE "+qualified(t.name)+" AS ENUM ("+list(all)+")"))
	}
	return parts
}
