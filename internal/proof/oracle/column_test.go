package oracle

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// stores returns what a column prints for a field's value, or the class of its fault.
func stores(t *testing.T, f *model.Field, ct model.ColType, payload string) string {
	t.Helper()
	tab := newTable("t", 1, column("k", model.ColInteger), &model.Column{Name: "v", Type: ct, Nullable: true})
	in := New(service([]*model.Table{tab}, newEvent("E", []*model.Field{f}, &model.Step{Verb: "insert", Table: tab,
		Set: byName(tab, []*model.Field{f}, map[string]model.Value{"k": constOf("1")})})))
	out := in.Apply(Record{Topic: "t", Value: []byte(`{"v":` + payload + `}`)})
	if out.Kind != Applied {
		return strings.TrimSpace(out.Class + " " + out.Path)
	}
	return strings.TrimPrefix(in.Rows("t")[0], "k=1  v=")
}

func arrayOf(k model.ColKind) model.ColType { return model.ColType{Kind: model.ColArray, Elem: k} }

func TestValuesInColumns(t *testing.T) {
	num := func(p, s int) model.ColType { return model.ColType{Kind: model.ColNumeric, Precision: p, Scale: s} }
	text := func(k model.ColKind, n int) model.ColType { return model.ColType{Kind: k, Len: n} }
	plain := func(k model.ColKind) model.ColType { return model.ColType{Kind: k} }
	for _, c := range []struct {
		typ     model.FieldType
		column  model.ColType
		payload string
		want    string
	}{
		{typ(model.String), plain(model.ColText), `"<a>\n\u2028'\"é\u007f"`, "\"<a>\\n\\u2028'\\\"é\x7f\""},
		{typ(model.String), text(model.ColVarchar, 3), `"éé€"`, `"éé€"`},
		{typ(model.String), text(model.ColVarchar, 3), `"abc "`, "fit v"},
		{typ(model.String), text(model.ColVarchar, 3), `""`, `""`},
		{typ(model.String), text(model.ColChar, 3), `"EUR"`, `"EUR"`},
		{typ(model.String), text(model.ColChar, 3), `"EURO"`, "fit v"},
		{typ(model.String), text(model.ColChar, 3), `"EU"`, "fit v"}, // it would be padded
		{opt(model.String), text(model.ColChar, 3), `null`, "NULL"},
		{typ(model.UUID), plain(model.ColUUID), `"00000000-0000-4000-8000-0000000000AB"`, "00000000-0000-4000-8000-0000000000ab"},
		{typ(model.UUID), plain(model.ColText), `"00000000-0000-4000-8000-0000000000AB"`, `"00000000-0000-4000-8000-0000000000ab"`},
		{typ(model.Bool), plain(model.ColBoolean), `false`, "false"},
		{typ(model.Int32), plain(model.ColInteger), `"-7"`, "-7"},
		{typ(model.Int32), plain(model.ColBigint), `7`, "7"},
		{typ(model.Int32), num(0, 0), `7`, "7"},
		{typ(model.Int64), num(5, 2), `999`, "999.00"},
		{typ(model.Int64), num(5, 2), `1000`, "fit v"},
		{typ(model.Float64), plain(model.ColDouble), `1000000`, "1e+06"},
		{typ(model.Float64), plain(model.ColDouble), `0.1`, "0.1"},
		{typ(model.Float64), plain(model.ColDouble), `-0`, "-0"},
		{typ(model.Decimal), num(12, 2), `1`, "1.00"},
		{typ(model.Decimal), num(12, 2), `"1.005"`, "fit v"},
		{typ(model.Decimal), num(0, 0), `1.500`, "1.500"},
		{typ(model.Decimal), num(0, 0), `1.5e3`, "1500"},
		{typ(model.Timestamp), plain(model.ColTimestamptz), `"2026-01-01T00:00:00.5+02:00"`, "2025-12-31T22:00:00.500000Z"},
		{in(model.Timestamp, model.EpochNanos), plain(model.ColTimestamptz), `1767225600000001999`, "2026-01-01T00:00:00.000001Z"},
		{typ(model.LocalTimestamp), plain(model.ColTimestamp), `"2026-01-01T00:00:00"`, "2026-01-01T00:00:00.000000"},
		{typ(model.Date), plain(model.ColDate), `"2026-01-01"`, "2026-01-01"},
		{in(model.Date, model.EpochDays), plain(model.ColDate), `-1`, "1969-12-31"},
		{typ(model.Bytes), plain(model.ColBytea), `"/wA="`, `\xff00`},
		{typ(model.Bytes), plain(model.ColBytea), `""`, `\x`},
		{typ(model.JSON), plain(model.ColJSONB), `{"b":[1.0,1e2], "a":null}`, `{"a":null,"b":[1.0,100]}`},
		{typ(model.JSON), plain(model.ColJSONB), `1e131072`, "database"},
		{typ(model.JSON), plain(model.ColJSONB), `1e-16384`, "database"},
		{typ(model.JSON), plain(model.ColJSON), `1e131072`, "1e131072"},
		{listOf(typ(model.String)), arrayOf(model.ColText), `["a\"",""]`, `["a\"",""]`},
		{listOf(opt(model.Int64)), arrayOf(model.ColBigint), `[1,null,"2"]`, `[1,null,2]`},
		{listOf(typ(model.UUID)), arrayOf(model.ColUUID), `["00000000-0000-4000-8000-0000000000AB"]`, `["00000000-0000-4000-8000-0000000000ab"]`},
		{listOf(typ(model.Int32)), arrayOf(model.ColInteger), `[]`, `[]`},
		{listOf(typ(model.Decimal)), arrayOf(model.ColNumeric), `["1.50",1e2]`, `[1.50,100]`},
		{listOf(typ(model.Bool)), arrayOf(model.ColBoolean), `[true,false]`, `[true,false]`},
		{listOf(typ(model.Float64)), arrayOf(model.ColDouble), `[1e21,0.5]`, `[1000000000000000000000,0.5]`},
		{listOf(typ(model.Float64)), arrayOf(model.ColReal), `[0.1,16777217]`, "fit v[1]"},
		{listOf(typ(model.Int32)), arrayOf(model.ColSmallint), `[1,-32768,32767]`, `[1,-32768,32767]`},
		{listOf(typ(model.Int32)), arrayOf(model.ColSmallint), `[1,32768]`, "fit v[1]"},
		{listOf(in(model.Timestamp, model.EpochMillis)), arrayOf(model.ColTimestamptz), `[1767225600000]`, `["2026-01-01T00:00:00.000000Z"]`},
		{listOf(typ(model.Date)), arrayOf(model.ColDate), `["0000-02-29"]`, `["0000-02-29"]`},
		{typ(model.Int32), plain(model.ColSmallint), `-32768`, "-32768"},
		{typ(model.Int32), plain(model.ColSmallint), `-32769`, "fit v"},
		{typ(model.Float64), plain(model.ColReal), `0.1`, "0.1"},
		{typ(model.Float64), plain(model.ColReal), `0.10000000149011612`, "fit v"},
		{typ(model.Float64), plain(model.ColReal), `1e39`, "fit v"},
		{typ(model.String), model.ColType{Kind: model.ColParsed, Name: "inet"}, `"10.0.0.1"`, `"10.0.0.1"`},
		{listOf(typ(model.Decimal)), plain(model.ColJSONB), `["1.50",1e2]`, `[1.50,100]`},
	} {
		if got := stores(t, field("v", c.typ), c.column, c.payload); got != c.want {
			t.Errorf("%s in column kind %d: %s, want %s", c.payload, c.column.Kind, got, c.want)
		}
	}
}

func TestObjectsInJSONBHaveTheirNamesInTheSpec(t *testing.T) {
	status := &model.Type{Name: "S", Enum: []model.EnumValue{{Text: "open"}}}
	inner := &model.Type{Name: "Inner", Fields: []*model.Field{field("n", typ(model.Int64))}}
	doc := &model.Type{Name: "Doc", Fields: []*model.Field{at("amount", typ(model.Decimal), "a"), field("id", typ(model.UUID)), field("at", typ(model.Timestamp)),
		field("ms", in(model.Timestamp, model.EpochMillis)), field("local", typ(model.LocalTimestamp)), field("day", typ(model.Date)), field("raw", typ(model.Bytes)),
		field("gone", opt(model.String)), field("status", model.FieldType{Kind: model.Enum, Named: status}), field("any", typ(model.JSON)),
		at("deep", model.FieldType{Kind: model.Object, Named: inner}, "x", "y"), field("f", typ(model.Float64)), field("list", listOf(typ(model.Bool)))}}
	payload := `{"a":"1.50","id":"00000000-0000-4000-8000-0000000000AB","at":"2026-01-01T01:00:00.1200009+01:00","ms":1767225600010,"local":"2026-01-01T00:00:00.10",
		"day":"2026-01-01","raw":"/wA=","status":"open","any":{"z":1,"y": [2.50]},"x":{"y":{"n":"5","more":1}},"f":1e21,"list":[true],"undeclared":1}`
	want := `{"amount":1.50,"any":{"y":[2.50],"z":1},"at":"2026-01-01T00:00:00.12Z","day":"2026-01-01","deep":{"n":5},"f":1000000000000000000000,"gone":null,` +
		`"id":"00000000-0000-4000-8000-0000000000ab","list":[true],"local":"2026-01-01T00:00:00.1","ms":"2026-01-01T00:00:00.01Z","raw":"/wA=","status":"open"}`
	if got := stores(t, field("v", model.FieldType{Kind: model.Object, Named: doc}), model.ColType{Kind: model.ColJSONB}, payload); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		typ        model.ColType
		text, want string
	}{
		{model.ColType{Kind: model.ColText}, "placed", `"placed"`},
		{model.ColType{Kind: model.ColChar, Len: 3}, "EUR", `"EUR"`},
		{model.ColType{Kind: model.ColBoolean}, "true", "true"},
		{model.ColType{Kind: model.ColNumeric, Precision: 5, Scale: 2}, "0.5", "0.50"},
		{model.ColType{Kind: model.ColDouble}, "0.5", "0.5"},
		{model.ColType{Kind: model.ColTimestamptz}, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z"},
		{model.ColType{Kind: model.ColDate}, "2026-01-01", "2026-01-01"},
		{model.ColType{Kind: model.ColBytea}, "/wA=", `\xff00`},
		{model.ColType{Kind: model.ColJSONB}, `{"b":1, "a":[]}`, `{"a":[],"b":1}`},
		{arrayOf(model.ColText), `{}`, `[]`},
		{model.ColType{Kind: model.ColNamed, Name: "mood"}, "ok", `"ok"`},
	} {
		got, f := constant(&model.Column{Type: c.typ}, c.text)
		if f != nil || format(c.typ, got) != c.want {
			t.Errorf("%s in kind %d: %s %v, want %s", c.text, c.typ.Kind, format(c.typ, got), f, c.want)
		}
	}
}

func TestEqualNumbersAreOneKey(t *testing.T) {
	n := field("n", typ(model.Decimal))
	tab := newTable("t", 1, column("n", model.ColNumeric))
	in := newFeed(t, service([]*model.Table{tab}, newEvent("E", []*model.Field{n}, &model.Step{Verb: "insert", Table: tab, Set: byName(tab, []*model.Field{n}, nil)})))
	in.send("E", `{"n":1.0}`, "applied")
	in.send("E", `{"n":1.00}`, "dead letter database")
	in.rows("t", `n=1.0`)
}
