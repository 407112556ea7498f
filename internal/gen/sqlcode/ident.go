package sqlcode

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// ident quotes a name if Postgres would not read it back as it is. Characters that nobody sees,
// such as those that turn the direction of a text, are escaped.
func ident(name string) string {
	if !strings.ContainsFunc(name, hidden) {
		return rawIdent(name)
	}
	var b strings.Builder
	for _, c := range strings.ReplaceAll(name, `"`, `""`) {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case hidden(c):
			fmt.Fprintf(&b, `\+%06X`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `U&"` + b.String() + `"`
}

// rawIdent is ident for what reads names without escapes, such as a cast to regclass.
func rawIdent(name string) string {
	if plain(name) && !keywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func hidden(c rune) bool { return !unicode.IsPrint(c) }

func plain(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// tableIdent names a table of the database, with its schema if the spec has one.
func tableIdent(t *model.Table) string {
	return tableAs(t, ident)
}

func tableAs(t *model.Table, ident func(string) string) string {
	if t.Schema == "" {
		return ident(t.InDatabase())
	}
	return ident(t.Schema) + "." + ident(t.InDatabase())
}

func columnIdent(c *model.Column) string { return ident(c.InDatabase()) }

// TableName is how SQL names the table if it is not simply the spec's name; else "".
func TableName(t *model.Table) string {
	if name := tableAs(t, rawIdent); name != t.Name {
		return name
	}
	return ""
}

func idents(columns []*model.Column) []string {
	var names []string
	for _, c := range columns {
		names = append(names, columnIdent(c))
	}
	return names
}

// qualified quotes each part of schema.name.
func qualified(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = ident(p)
	}
	return strings.Join(parts, ".")
}

// free returns the first of name, name_, name__, ... that is not taken.
func free(name string, taken func(string) bool) string {
	for taken(name) {
		name += "_"
	}
	return name
}

// keywords are the words of Postgres 14 to 18 that it does not take for a column or
// table everywhere; its quote_ident quotes them too.
var keywords = wordSet(`
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
case cast char character check coalesce collate collation column concurrently constraint create cross
current_catalog current_date current_role current_schema current_time current_timestamp current_user
dec decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg json_query
json_scalar json_serialize json_table json_value lateral leading least left like limit localtime
localtimestamp merge_action national natural nchar none normalize not notnull null nullif numeric offset on
only or order out outer overlaps overlay placing position precision primary real references returning right
row select session_user setof similar smallint some substring symmetric system_user table tablesample then
time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where
window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
xmlserialize xmltable`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
