package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/proof"
	_ "github.com/idemgen/idemgen/runtime/idemtest/testmessages"
)

const stock = `version: 1
consumer: stock
package: stock
tables: {items: {primary_key: [id], columns: {id: text}}}
topics:
  stock.v1:
    payload: {encoding: avro, schema: item.avsc}
    idempotency_key: {source: {record: offset}}
    events: {Came: {write: [{upsert: items}]}}
`

const item = `{"type": "record", "name": "Item", "fields": [{"name": "id", "type": "string"}]}`

// If the spec or one of its schemas has changed since the code was generated, that is the first
// error, whatever else is wrong with it. Ends of lines do not count.
func TestACodeThatIsOlderThanItsSpecIsTold(t *testing.T) {
	digest := proof.Files{"item.avsc": []byte(item)}.Digest([]byte(stock))
	for name, c := range map[string]struct{ spec, schema, says string }{
		"as it was":        {stock, item, ""},
		"a line more":      {strings.ReplaceAll(stock, "\n", "\r\n"), item + "\r\n", "has changed"},
		"of the spec only": {strings.ReplaceAll(stock, "\n", "\r\n"), item, ""},
		"a comment":        {stock + "# more\n", item, "idemgen.yaml has changed since the code was generated: run go generate"},
		"a mistake":        {strings.Replace(stock, "upsert: items", "upsert: others", 1), item, "has changed"},
		"the schema":       {stock, strings.Replace(item, "Item", "Thing", 1), "has changed"},
		"no schema":        {stock, "{", "has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"idemgen.yaml": c.spec, "item.avsc": c.schema} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := proof.Read(filepath.Join(dir, "idemgen.yaml"), digest)
			switch {
			case c.says == "" && (err != nil || len(s.Topic(s.Topics[0]).Records) == 0):
				t.Errorf("%v", err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}
