package spec

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
)

// What explain says of some specs of testdata/golden/accepted stands beside them.
func TestGoldenExplained(t *testing.T) {
	for _, name := range []string{"kitchen_sink", "effects_on_redis", "offset_ledger", "avro_orders"} {
		expected, err := filepath.Abs(filepath.Join(golden, "explained", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		code, text, stderr := run(t, "explain", golden+"/accepted/"+name)
		if code != done || stderr != "" {
			t.Fatalf("%s: exit code %d\n%s", name, code, stderr)
		}
		same(t, expected, text)
		for line := range strings.Lines(text) {
			if len(line) > command.Columns+1 {
				t.Errorf("%s: a line of %d columns: %s", name, len(line), line)
			}
		}
	}
}

func TestExplainForMachines(t *testing.T) {
	code, text, stderr := run(t, "explain", "--json", golden+"/accepted/offset_ledger")
	var got struct {
		Topics []struct {
			Topic  string
			Events []struct{ Event, Identity string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != done {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, text, stderr)
	}
	if len(got.Topics) != 1 || got.Topics[0].Topic != "orders" || got.Topics[0].Events[0].Event != "Order" || got.Topics[0].Events[0].Identity == "" {
		t.Errorf("got %+v", got)
	}
	refused(t, "explain takes one spec", "explain", golden+"/accepted/...")
}
