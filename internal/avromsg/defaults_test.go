package avromsg_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/avromsg"
)

// The default of a field is completed by the defaults of what is in it, at every depth, and a
// union's is of the first of its types that it fits, as Avro 1.12 has it.
func TestDefaultsAreFilledIn(t *testing.T) {
	const (
		ship    = `{"type":"record","name":"Ship","namespace":"shop","fields":[{"name":"by","type":"string","default":"none"},{"name":"days","type":"int","default":3},{"name":"at","type":["null","string"],"default":null}]}`
		deep    = `{"type":"record","name":"Deep","namespace":"shop","fields":[{"name":"ship","type":` + ship + `,"default":{"days":4}},{"name":"n","type":"long","default":1}]}`
		amount  = `{"type":"bytes","logicalType":"decimal","precision":6,"scale":2}`
		instant = `{"type":"long","logicalType":"timestamp-millis"}`
		node    = `{"type":"record","name":"Node","fields":[{"name":"v","type":"int","default":7},{"name":"next","type":["null","Node"],"default":null}]}`
	)
	for name, c := range map[string]struct{ typ, value, want string }{
		"nothing given":             {ship, `{}`, `{"by":"none","days":3}`},
		"one given":                 {ship, `{"by":"dhl"}`, `{"by":"dhl","days":3}`},
		"two levels":                {deep, `{}`, `{"ship":{"by":"none","days":4},"n":1}`},
		"two levels, one given":     {deep, `{"ship":{}}`, `{"ship":{"by":"none","days":3},"n":1}`},
		"an array":                  {`{"type":"array","items":` + ship + `}`, `[{},{"days":9}]`, `[{"by":"none","days":3},{"by":"none","days":9}]`},
		"a map":                     {`{"type":"map","values":` + deep + `}`, `{"k":{}}`, `{"k":{"ship":{"by":"none","days":4},"n":1}}`},
		"a union of one type":       {`[` + ship + `,"null"]`, `{}`, `{"by":"none","days":3}`},
		"the first of a union":      {`[` + ship + `,"string"]`, `{}`, `{"type":"Ship","Ship":{"by":"none","days":3}}`},
		"another one of a union":    {`["string",` + ship + `]`, `{"days":1}`, `{"type":"Ship","Ship":{"by":"none","days":1}}`},
		"null, and not the first":   {`["string","null"]`, `null`, ``},
		"a long of a union":         {`["string","long"]`, `5`, `{"type":"long","long":5}`},
		"itself":                    {node, `{"next":{}}`, `{"v":7,"next":{"v":7}}`},
		"a decimal":                 {amount, `"\u00ff"`, `-0.01`},
		"a decimal in a record":     {`{"type":"record","name":"R","fields":[{"name":"p","type":` + amount + `,"default":"\u0000\u0080"},{"name":"t","type":` + instant + `,"default":1500}]}`, `{}`, `{"p":1.28,"t":"1970-01-01T00:00:01.5Z"}`},
		"an enum":                   {`{"type":"enum","name":"E","symbols":["A","B"]}`, `"B"`, `"B"`},
		"bytes":                     {`"bytes"`, `"\u00ff"`, `"/w=="`},
		"a name of another field":   {`"shop.Known"`, `{}`, `{"k":"?"}`},
		"names of it in a list":     {`{"type":"array","items":"shop.Known"}`, `[{}]`, `[{"k":"?"}]`},
		"a text of a float's value": {`"double"`, `0.5`, `0.5`},
	} {
		const known = `{"name":"known","type":{"type":"record","name":"shop.Known","fields":[{"name":"k","type":"string","default":"?"}]},"default":{"k":"k"}}`
		reader := `{"type":"record","name":"A","namespace":"own","fields":[` + known + `,{"name":"x","type":` + c.typ + `,"default":` + c.value + `}]}`
		want := `{"known":{"k":"k"},"x":` + c.want + `}`
		if c.want == "" {
			want = `{"known":{"k":"k"}}`
		}
		if got := opened(t, reader, `{"type":"record","name":"A","fields":[{"name":"other","type":"int"}]}`, `{"other":1}`); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for name, c := range map[string]struct{ typ, value string }{
		"a field without a default": {`{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}`, `{}`},
		"two levels below":          {`{"type":"array","items":{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}}`, `[{}]`},
		"another type":              {`"int"`, `"a"`},
		"none of a union's types":   {`["int","string"]`, `true`},
		"no symbol":                 {`{"type":"enum","name":"E","symbols":["A"]}`, `"B"`},
	} {
		_, err := avromsg.New(`{"type":"record","name":"A","fields":[{"name":"x","type":`+c.typ+`,"default":`+c.value+`}]}`, "")
		if err == nil || !strings.Contains(err.Error(), "x") || !strings.Contains(err.Error(), "default") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
