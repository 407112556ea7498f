package oracle

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// decodes returns what a field v becomes, as JSON, or "class path".
func decodes(t *testing.T, f *model.Field, text string) string {
	t.Helper()
	in := New(service(nil, newEvent("E", []*model.Field{f})))
	r := &Record{Topic: "t", Value: []byte(text)}
	e, err := in.read(in.service.Topics[0].Events[0], r, &payload{record: r})
	if err != nil {
		return strings.TrimSpace(err.class + " " + err.path)
	}
	return sentJSON(e.values[f])
}

func TestScalarsOfJSON(t *testing.T) {
	status := &model.Type{Name: "Status", Enum: []model.EnumValue{{Text: "open"}, {Text: "in transit"}}}
	const refused = "decode v"
	for _, c := range []struct {
		typ  model.FieldType
		json string
		want string
	}{
		{typ(model.String), `"a\u00e9"`, `"aé"`},
		{typ(model.String), `""`, `""`},
		{typ(model.String), `1`, refused},
		{typ(model.String), `null`, refused},
		{typ(model.String), `"\u0000"`, refused},
		{typ(model.String), `"\ud800"`, refused},
		{opt(model.String), `null`, `null`},
		{typ(model.UUID), `"00000000-0000-4000-8000-00000000ABCD"`, `"00000000-0000-4000-8000-00000000abcd"`},
		{typ(model.UUID), `"00000000-0000-0000-0000-000000000000"`, `"00000000-0000-0000-0000-000000000000"`},
		{typ(model.UUID), `"00000000000040008000000000000001"`, refused},
		{typ(model.UUID), `"{00000000-0000-4000-8000-0000000000}"`, refused},
		{typ(model.UUID), `"00000000-0000-4000-8000-00000000000g"`, refused},
		{typ(model.Bool), `true`, `true`},
		{typ(model.Bool), `"true"`, refused},
		{typ(model.Bool), `1`, refused},
		{typ(model.Int32), `2147483647`, `2147483647`},
		{typ(model.Int32), `2147483648`, refused},
		{typ(model.Int32), `"-17"`, `-17`},
		{typ(model.Int32), `"017"`, refused},
		{typ(model.Int32), `"1\u0030"`, `10`},
		{typ(model.Int32), `1.0`, refused},
		{typ(model.Int32), `1e2`, refused},
		{typ(model.Int32), `-0`, `0`},
		{typ(model.Int32), `true`, refused},
		{typ(model.Int64), `9007199254740993`, `9007199254740993`},
		{typ(model.Int64), `"9223372036854775807"`, `9223372036854775807`},
		{typ(model.Int64), `9223372036854775808`, refused},
		{typ(model.Float64), `1e3`, `1000`},
		{typ(model.Float64), `0.1`, `0.1`},
		{typ(model.Float64), `1e309`, refused},
		{typ(model.Float64), `"1"`, refused},
		{typ(model.Float64), `1e-400`, refused},
		{typ(model.Float64), `5e-324`, "0." + strings.Repeat("0", 323) + "5"},
		{typ(model.Float64), `0.0e-400`, `0`},
		{typ(model.Decimal), `129.90`, `129.90`},
		{typ(model.Decimal), `"129.90"`, `129.90`},
		{typ(model.Decimal), `1e400`, "1" + strings.Repeat("0", 400)},
		{typ(model.Decimal), `1e1000`, refused},
		{typ(model.Decimal), `" 1"`, refused},
		{typ(model.Timestamp), `"2026-01-01T01:00:00.120+01:00"`, `"2026-01-01T00:00:00.12Z"`},
		{typ(model.Timestamp), `1767225600`, refused},
		{in(model.Timestamp, model.EpochSeconds), `1767225600`, `"2026-01-01T00:00:00Z"`},
		{in(model.Timestamp, model.EpochSeconds), `1767225600000`, refused},
		{in(model.Timestamp, model.EpochMillis), `1767225600001`, `"2026-01-01T00:00:00.001Z"`},
		{in(model.Timestamp, model.EpochMillis), `1767225600`, refused},
		{in(model.Timestamp, model.EpochMillis), `"1767225600001"`, refused},
		{in(model.Timestamp, model.EpochMillis), `1767225600001.5`, refused},
		{typ(model.LocalTimestamp), `"2026-01-01T00:00:00"`, `"2026-01-01T00:00:00"`},
		{typ(model.Date), `"2026-01-01"`, `"2026-01-01"`},
		{in(model.Date, model.EpochDays), `20454`, `"2026-01-01"`},
		{typ(model.Bytes), `"aGk="`, `"aGk="`},
		{typ(model.Bytes), `""`, `""`},
		{typ(model.Bytes), `"aGk"`, refused},
		{typ(model.Bytes), `"aGl="`, refused},
		{typ(model.Bytes), `"aG\nk="`, refused},
		{typ(model.Bytes), `"_-8="`, refused},
		{typ(model.JSON), ` {"b": 1.0} `, `{"b": 1.0}`},
		{typ(model.JSON), `null`, refused},
		{opt(model.JSON), `null`, `null`},
		{typ(model.JSON), `["\u0000"]`, refused},
		{model.FieldType{Kind: model.Enum, Named: status}, `"in transit"`, `"in transit"`},
		{model.FieldType{Kind: model.Enum, Named: status}, `"Open"`, refused},
		{listOf(typ(model.Int32)), `[1,"2"]`, `[1,2]`},
		{listOf(typ(model.Int32)), `[1,null]`, "decode v[1]"},
		{listOf(opt(model.Int32)), `[1,null]`, `[1,null]`},
		{listOf(typ(model.Int32)), `{}`, refused},
		{listOf(listOf(typ(model.Bool))), `[[],[true,0]]`, "decode v[1][1]"},
	} {
		if got := decodes(t, field("v", c.typ), `{"v":`+c.json+`}`); got != c.want {
			t.Errorf("kind %d %s: %s, want %s", c.typ.Kind, c.json, got, c.want)
		}
	}
}

func TestAbsentNullAndDefault(t *testing.T) {
	defaulted := field("v", typ(model.Int32))
	defaulted.Default = &model.Constant{Text: "7"}
	for _, c := range []struct {
		f             *model.Field
		payload, want string
	}{
		{field("v", typ(model.Int32)), `{}`, "decode v"},
		{field("v", opt(model.Int32)), `{}`, "null"},
		{field("v", opt(model.Int32)), `{"v":null}`, "null"},
		{defaulted, `{}`, "7"},
		{defaulted, `{"v":null}`, "decode v"},
		{defaulted, `{"v":8}`, "8"},
		{field("v", opt(model.Int32)), `null`, "decode"},
		{field("v", opt(model.Int32)), `[]`, "decode"},
		{field("v", opt(model.Int32)), ``, "decode"},
		{at("v", opt(model.Int32), "a", "b"), `{"a":{"b":1}}`, "1"},
		{at("v", opt(model.Int32), "a", "b"), `{"a":{}}`, "null"},
		{at("v", opt(model.Int32), "a", "b"), `{"a":null}`, "null"},
		{at("v", opt(model.Int32), "a", "b"), `{}`, "null"},
		{at("v", opt(model.Int32), "a", "b"), `{"a":"x"}`, "decode a"},
		{at("v", typ(model.Int32), "a", "b"), `{"a":{}}`, "decode a.b"},
		{at("v", typ(model.Int32), "a.b"), `{"a.b":1}`, "1"},
		{at("v", typ(model.Int32)), `5`, "5"},
	} {
		if got := decodes(t, c.f, c.payload); got != c.want {
			t.Errorf("%s: %s, want %s", c.payload, got, c.want)
		}
	}
}

func TestDeclaredMembersAppearOnce(t *testing.T) {
	for payload, want := range map[string]string{
		`{"v":1,"v":1}`:                  "decode v",
		`{"v":1,"\u0076":2}`:             "decode v",
		`{"v":1,"V":2}`:                  "1",
		`{"v":1,"x":1,"x":2}`:            "1",
		`{"x":"\ud800\u0000","v":1}`:     "1",
		`{"x":{"v":2},"v":1}`:            "1",
		"{\"x\":\"\xff\",\"v\":1}":       "decode",
		`{}x`:                            "decode v",
		`{"v":1}{"v":2}`:                 "decode",
		"\ufeff{\"v\":1}":                "decode",
		`{"v":` + nested(63) + `}`:       "decode v",
		`{"v":1,"x":` + nested(63) + `}`: "1",
		`{"v":1,"x":` + nested(64) + `}`: "decode",
	} {
		if got := decodes(t, field("v", typ(model.Int32)), payload); got != want {
			t.Errorf("%.60s: %s, want %s", payload, got, want)
		}
	}
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestPathsOfObjectsAndLists(t *testing.T) {
	item := &model.Type{Name: "Item", Fields: []*model.Field{field("sku", typ(model.String)), at("price", typ(model.Decimal), "cost", "net")}}
	items := field("items", listOf(model.FieldType{Kind: model.Object, Named: item}))
	for payload, want := range map[string]string{
		`{"items":[{"sku":"a","cost":{"net":"1.50"}}]}`:                  `[{"sku":"a","price":1.50}]`,
		`{"items":[{"sku":"a","cost":{"net":1}},{"sku":"b","cost":{}}]}`: "decode items[1].cost.net",
		`{"items":[{"cost":{"net":1}}]}`:                                 "decode items[0].sku",
		`{"items":[{"sku":"a","sku":"b","cost":{"net":1}}]}`:             "decode items[0].sku",
		`{"items":[7]}`: "decode items[0]",
		`{"items":[]}`:  `[]`,
		// The first fault in reading order counts: a wrong value before broken text, what
		// is missing at the end of its object, broken text before what it hides.
		`{"items":[{"sku":1}],`:                   "decode items[0].sku",
		`{"items":[{"x":1}],"items":[]}`:          "decode items[0].sku",
		`{"items":[{"sku":"a`:                     "decode items[0].sku",
		`{"items":[{"sku":"a","cost":{"net":`:     "decode items[0].cost.net",
		`{"items":[{"sku":"a","other":{"net":tru`: "decode items[0]",
	} {
		if got := decodes(t, items, payload); got != want {
			t.Errorf("%s: %s, want %s", payload, got, want)
		}
	}
}

func TestEveryTruncationIsADecodeError(t *testing.T) {
	item := &model.Type{Name: "Item", Fields: []*model.Field{field("n", typ(model.Decimal)), field("s", opt(model.String))}}
	items := field("items", listOf(model.FieldType{Kind: model.Object, Named: item}))
	payload := `{"other":[true,null,{"a":"\u00e9"}],"items":[{"n":-1.5e3,"s":"é\n"},{"n":"2"}]}`
	if got := decodes(t, items, payload); got != `[{"n":-1500,"s":"é\n"},{"n":2,"s":null}]` {
		t.Fatal(got)
	}
	for n := range len(payload) {
		if got := decodes(t, items, payload[:n]); !strings.HasPrefix(got, "decode") {
			t.Errorf("%s was accepted", payload[:n])
		}
	}
}
