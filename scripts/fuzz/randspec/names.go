package randspec

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// A name is called and typed alike wherever it occurs in a spec: as a column, as a field and as
// the member of a list's element. So values meet, and steps fill columns by name.
type name struct {
	column, field string // types
	constant      string // of the column
	optional      bool   // nullable as a column, and optional as a field
}

type kind struct {
	column   string
	fields   []string
	constant string
}

// keyKinds are for names that find rows.
var keyKinds = []kind{
	{"uuid", []string{"uuid"}, "00000000-0000-4000-8000-000000000001"},
	{"text", []string{"string"}, "one"},
	{"bigint", []string{"int64", "int32"}, "1"},
	{"integer", []string{"int32"}, "1"},
	{"date", []string{"date", "epoch_days"}, "2026-01-02"},
	{"numeric", []string{"decimal", "int64"}, "1"},
	{`"numeric(12,2)"`, []string{"decimal"}, "1.50"},
	{"timestamptz", []string{"timestamp", "epoch_ms"}, "2026-01-02T03:04:05Z"},
}

// numberKinds are for names that are counted, added to or compared.
var numberKinds = []kind{
	{"integer", []string{"int32"}, "3"},
	{"bigint", []string{"int64", "int32"}, "3"},
	{"numeric", []string{"decimal", "int32"}, "3"},
	{`"numeric(20,2)"`, []string{"decimal"}, "3.25"},
}

// plainKinds are for all other names.
var plainKinds = []kind{
	{"text", []string{"string", "Mood"}, "sad"},
	{"varchar(40)", []string{"string"}, "short"},
	{"boolean", []string{"bool"}, "true"},
	{"double precision", []string{"float64"}, "0.5"},
	{"timestamp", []string{"local_timestamp"}, "2026-01-02T03:04:05"},
	{"bytea", []string{"bytes"}, "AQI="},
	{"jsonb", []string{"json", "list(string)", "map(int64)"}, `"{}"`},
	{"json", []string{"json"}, `"[]"`},
	{"smallint", []string{"int32"}, "3"},
	{"inet", []string{"string"}, "10.0.0.1"},
	{"interval", []string{"string"}, "1 day"},
	{"citext", []string{"string"}, "One"},
	{"tstzrange", []string{"string"}, `"[2026-01-02 03:04:05+00,)"`},
	{"text array", []string{"list(string)"}, ""},
	{"timestamptz array", []string{"list(timestamp)", "list(epoch_ms)"}, ""},
	{"smallint array", []string{"list(int32)"}, ""},
	{"time array", []string{"list(string)"}, ""},
	{"bigint array", []string{"list(int64)"}, ""},
}

var versionKinds = []kind{
	{"bigint", []string{"int64"}, "5"},
	{"integer", []string{"int32"}, "5"},
	{"timestamptz", []string{"timestamp", "epoch_us"}, "2026-01-02T03:04:05Z"},
}

// kindsOf says which kinds the names of a spec may have. A name on _o may be NULL.
var kindsOf = map[string][]kind{
	"id": keyKinds, "k": keyKinds, "no": numberKinds[:2],
	"n": numberKinds, "m": numberKinds, "ver": versionKinds,
	rowNumber: {{"bigint", []string{"int64"}, "-1"}}, // which the database gives to no row: the oracle does not know what it gives
	"a":       plainKinds, "b": plainKinds, "c": plainKinds, "d_o": plainKinds, "e_o": numberKinds,
}

// rowNumber is called a column with which the database numbers the rows of a table.
const rowNumber = "row"

// order are the names as they are written.
var order = []string{"id", "k", "no", "n", "m", "ver", "a", "b", "c", "d_o", "e_o"}

func names(r *rand.Rand) map[string]name {
	out := map[string]name{}
	for _, n := range append([]string{rowNumber}, order...) {
		k := pick(r, kindsOf[n])
		field := ""
		if len(k.fields) > 0 {
			field = pick(r, k.fields)
		}
		out[n] = name{k.column, field, k.constant, len(n) > 2 && n[len(n)-2:] == "_o"}
	}
	return out
}

// answered reports whether the result of an effect may have a member of the name: it holds single
// values of plain types, which fill columns that hold all of them.
func (n name) answered() bool {
	return n.column != "smallint" && !strings.Contains(n.column, "(") && slices.Contains([]string{"string", "uuid", "bool", "int32", "int64", "float64", "decimal", "timestamp", "local_timestamp", "date", "bytes", "Mood"}, n.field)
}

// answer is what effects return: a member for each name that it may have.
func answer(all map[string]name) *part {
	fields := &part{lines: []string{"fields:"}, needed: true}
	for _, called := range order {
		n := all[called]
		if !n.answered() {
			continue
		}
		typ := n.field
		if n.optional {
			typ = "optional " + typ
		}
		fields.add(leaf(called + ": " + typ))
	}
	return &part{lines: []string{"Answer:"}, parts: []*part{fields}}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// chance is true in so many of a hundred cases.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }
