package generator

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/pgtable"
)

// existing returns a table, whose first key is the primary one, with columns: "name|type", then
// what else is true of it.
func existing(name string, keys [][]string, columns ...string) *pgtable.Table {
	t := &pgtable.Table{Schema: "public", Name: name, Rights: []string{"SELECT", "INSERT"}}
	for i, k := range keys {
		t.Keys = append(t.Keys, pgtable.Key{Columns: k, Primary: i == 0})
	}
	for _, text := range columns {
		is := strings.Split(text, "|")
		c := pgtable.Column{Name: is[0], Type: is[1], Known: true}
		for _, more := range is[2:] {
			what, of, _ := strings.Cut(more, " ")
			switch what {
			case "null":
				c.Nullable = true
			case "default":
				c.Default = of
			case "always":
				c.Always = of
			case "domain":
				c.Domain = of
			case "unknown":
				c.Known = false
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Each thing that a table may have is in the section, or in a comment with the reason.
func TestWhatIsWrittenOfATable(t *testing.T) {
	parent := existing("parents", [][]string{{"a", "b"}, {"b", "a"}, {"a", "note"}, {"j"}, {"b"}},
		"a|uuid", "b|bigint", "note|text|null|domain words", "j|jsonb", "n|bigint|always identity", "at|timestamptz|default now()", "place|xml|unknown|null")
	parent.Keys[4].Deferrable = true
	parent.Unlogged, parent.Others = true, []string{"CREATE INDEX ON parents (lower(note))\n"}
	parent.Before = []pgtable.Trigger{{Name: "fill", Insert: true}, {Name: "keep", Update: true}}
	child := existing("Children", [][]string{{"code"}}, "code|varchar(3)", "b_of|bigint|null", "a_of|uuid|null", "a_text|text|null", "shape|box|unknown", "filled|box|unknown|default x", "made|box|unknown|always generated", "kept|uuid")
	reference := func(table, onDelete string, from, to []string) {
		child.ForeignKeys = append(child.ForeignKeys, pgtable.ForeignKey{Columns: from, Schema: "public", Table: table, References: to, OnDelete: onDelete})
	}
	reference("parents", "set_null", []string{"b_of", "a_of"}, []string{"b", "a"}) // in another order than its primary key
	reference("elsewhere", "cascade", []string{"a_of"}, []string{"a"})
	reference("lines", "cascade", []string{"a_text"}, []string{"line"})
	reference("parents", "set default", []string{"a_of", "b_of"}, []string{"a", "b"})
	reference("parents", "cascade", []string{"b_of"}, []string{"b"})
	reference("parents", "cascade", []string{"a_text", "b_of"}, []string{"a", "b"})
	reference("parents", "set_null", []string{"kept", "b_of"}, []string{"a", "b"})
	reference("parents", "restrict", []string{"kept", "b_of"}, []string{"a", "b"})
	reference("parents", "cascade", []string{"shape", "b_of"}, []string{"a", "b"})
	other := existing("parents", [][]string{{"id"}}, "id|text")
	other.Schema = "sales"
	late := existing("late", [][]string{{"id"}, {"n"}, {"code"}}, "id|uuid", "n|integer|null", "code|text")
	late.Keys[0].Deferrable = true
	view, log := existing("shown", nil, "id|uuid"), existing("lines", nil, "line|text")
	view.View = true

	const want = `tables:
  parents:
    external: true
    schema: public
    # unlogged, so the service rejects it: after a crash of the server its rows are lost
    primary_key: [a, b]
    # left out: the unique key (j), of a type that no key may have
    # left out: the unique key (b), which is deferrable
    unique: [[a, note]]
    # left out: CREATE INDEX ON parents (lower(note))\n
    # trigger fill runs before each new row. If it fills a column, write filled_by: database on that
    # column: then no step has to fill it.
    # trigger keep runs before a row is changed. It may replace what steps write.
    columns:
      a: uuid
      b: bigint
      note: nullable text # domain words
      j: jsonb
      n: {type: "bigint", filled_by: database} # identity
      at: {type: "timestamptz", filled_by: database} # default now()
      # place: left out. The spec language has no type for xml
  children:
    external: true
    schema: public
    name: "Children"
    primary_key: [code]
    # left out: the foreign key (a_of) to public.elsewhere: that table is not here
    # left out: the foreign key (a_text) to public.lines: that table is not here
    # left out: the foreign key (a_of, b_of) to public.parents: on delete set default
    # left out: the foreign key (b_of) to public.parents: not to its primary key
    # left out: the foreign key (a_text, b_of) to public.parents: its columns have other types
    # left out: the foreign key (kept, b_of) to public.parents: its columns have other types
    # left out: the foreign key (shape, b_of) to public.parents: its columns have other types
    foreign_keys:
      - {columns: [a_of, b_of], references: parents, on_delete: set_null}
      - {columns: [kept, b_of], references: parents, on_delete: restrict}
    columns:
      code: varchar(3)
      b_of: nullable bigint
      a_of: nullable uuid
      a_text: nullable text
      # shape: left out. The spec language has no type for box
      # Each row needs it, so no step can insert rows here: give it a default in the database.
      # filled: left out. The spec language has no type for box
      # made: left out. The spec language has no type for box
      kept: uuid
  parents_2:
    external: true
    schema: sales
    name: parents
    primary_key: [id]
    columns:
      id: text
  late:
    external: true
    schema: public
    primary_key: [code]
    # left out: the unique key (id), which is deferrable
    unique: [[n]]
    columns:
      id: uuid
      n: nullable integer
      code: text
  # public.shown: left out. It is a view, for which the database knows no key,
  # so write it yourself: its primary_key must identify its rows.
  # public.lines: left out. It has no unique key whose columns are NOT NULL and of types that a key may have,
  # so nothing identifies its rows.
`
	if got := Describe([]*pgtable.Table{parent, child, other, late, view, log}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The sample's event inserts into the first table whose rows a step can make, with a field for
// each column that it must fill.
func TestTheTableThatTheSampleFills(t *testing.T) {
	key := [][]string{{"id"}}
	readOnly, view := existing("read_only", key, "id|uuid"), existing("seen", key, "id|uuid")
	readOnly.Rights, view.View = []string{"SELECT", "UPDATE"}, true
	good := existing("good", key, "id|uuid|default gen_random_uuid()", "n|bigint|always identity", "note|text|null", "tags|text array", "code|varchar(3)", "net|inet", "d|smallint", "far|xml|unknown|null")
	for want, tables := range map[string][]*pgtable.Table{
		"good(id: uuid, tags: list(string), code: string, net: string, d: int32)[note]": {
			readOnly, view, existing("numbered", key, "id|bigint|default nextval('a')"), existing("by_default", key, "id|bigint|default "+pgtable.ByDefault),
			existing("unknown", key, "id|uuid", "far|xml|unknown"), existing("named", key, "id|uuid", "k|named(app.kind)"), existing("word", key, "id|uuid", "each|text"), existing("other_word", key, "result|text", "id|uuid"), good,
		},
		"()[]":           {readOnly, view},
		"a(id: uuid)[]":  {existing("a", key, "id|uuid", "far|xml|unknown|default x", "away|xml|unknown|always generated", "given|text|default 'a'"), good},
		"b(id: int32)[]": {existing("b", key, "id|integer"), good},
	} {
		text, err := specOf(Start{Consumer: "c", Package: "p", Tables: tables})
		if err != nil {
			t.Fatal(err)
		}
		_, in := describe(tables)
		i := slices.IndexFunc(in, func(n described) bool { return strings.HasPrefix(want, n.key+"(") })
		if i < 0 {
			if strings.Contains(string(text), "insert: ") {
				t.Errorf("want %s, got\n%s", want, text)
			}
			continue
		}
		fields, leave := in[i].sampleFields()
		if got := in[i].key + "(" + strings.Join(fields, ", ") + ")[" + strings.Join(leave, ", ") + "]"; got != want || !strings.Contains(string(text), "insert: "+in[i].key) {
			t.Errorf("%s, want %s\n%s", got, want, text)
		}
	}
}
