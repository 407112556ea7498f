package spec

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMigrationsAreAppended(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	first := read(t, "migrations/0003_order_projector.sql")
	if !strings.Contains(first, "CREATE TABLE orders (") {
		t.Error(first)
	}
	write(t, "migrations/0008_mine.sql", "CREATE INDEX ON orders (status);\n")
	edit(t, "idemgen.yaml", "      status: text\n", "      status: text\n      note: nullable text\n")
	edit(t, "idemgen.yaml", "set: {status: {value: placed}}", "set: {status: {value: placed}}\n            leave: [note]")
	if code, out, _ := run(t, "check"); code != different || !strings.Contains(out, "+++ migrations/0009_order_projector.sql") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	must(t, "generate")
	if read(t, "migrations/0003_order_projector.sql") != first {
		t.Error("an earlier migration changed")
	}
	added := read(t, "migrations/0009_order_projector.sql")
	if !strings.Contains(added, "ALTER TABLE orders") || !strings.Contains(added, "note text") || strings.Contains(added, "CREATE TABLE") {
		t.Error(added)
	}
	must(t, "check")
}

// A spec that gets its first effect gets the table for that then, and keeps it when the effect is
// gone.
func TestTheRuntimesTablesComeByNeed(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": strings.Replace(spec, "    idempotency_key: {source: {header: Idempotency-Key}, window: 8d}\n",
		"    idempotency_key: {source: {record: offset}}\n", 1)})
	has := func(file, schema string) {
		t.Helper()
		must(t, "generate")
		must(t, "check")
		read(t, "migrations/"+file)
		if code := read(t, "idem_gen.go"); !strings.Contains(code, "map[string]int{"+schema+"},") {
			t.Errorf("no %s in\n%s", schema, code)
		}
	}
	edit(t, "idemgen.yaml", "assume: [ordered]", "assume: [ordered, unique]")
	has("0002_order_projector.sql", `"core": 1`)
	edit(t, "idemgen.yaml", "{record: offset}}", "{header: Idempotency-Key}, window: 8d}")
	has("0003_idem_keys_1.sql", `"core": 1, "keys": 1`)
	edit(t, "idemgen.yaml", "        type: order.paid\n", "        type: order.paid\n        effect: {if_interrupted: retry}\n")
	has("0004_idem_effects_1.sql", `"core": 1, "effects": 1, "keys": 1`)
	edit(t, "idemgen.yaml", "        effect: {if_interrupted: retry}\n", "")
	has("0004_idem_effects_1.sql", `"core": 1, "effects": 1, "keys": 1`)
	if files, err := os.ReadDir("migrations"); err != nil || len(files) != 4 {
		t.Error(files, err)
	}
}

func TestRefusedChanges(t *testing.T) {
	type change struct{ old, new string }
	for _, tc := range []struct {
		want    string
		changes []change
	}{
		{`idemgen.yaml:11:7: E607: column "total" of "orders" changed`, []change{{"total: numeric(12,2)", "total: numeric(10,2)"}}},
		{`idemgen.yaml:13:7: E607: new column "at"`, []change{
			{"      status: text\n", "      status: text\n      at: uuid\n"}, {"customer_id: string,", "customer_id: string, at: uuid,"}}},
		{`idemgen.yaml:6:3: E607: column "total" was removed`, []change{{"      total: numeric(12,2)\n", ""}, {", total: decimal", ""}}},
		{`idemgen.yaml:5:1: E607: table "old" was removed`, []change{{"  old: {primary_key: [id], columns: {id: uuid}}\n", ""}}},
	} {
		module(t, map[string]string{"idemgen.yaml": strings.Replace(spec, "\ntopics:", "  old: {primary_key: [id], columns: {id: uuid}}\n\ntopics:", 1)})
		must(t, "generate")
		for _, c := range tc.changes {
			edit(t, "idemgen.yaml", c.old, c.new)
		}
		refused(t, tc.want, "generate")
		refused(t, "in a migration of your own that has the line", "check")
	}
}

// A change made by hand is taken over when a migration says so, once.
func TestChangeByHand(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "total: numeric(12,2)", "total: numeric(10,2)")
	refused(t, `"-- idemgen:by-hand orders.total"`, "generate")
	write(t, "migrations/0004_narrower.sql", "-- idemgen:by-hand orders.total\nALTER TABLE orders ALTER total TYPE numeric(10,2);\n")
	must(t, "generate")
	must(t, "check")
	if s := read(t, "idem.state.yaml"); !strings.Contains(s, "      total: numeric(10,2)\n") || !strings.Contains(s, "  0004_narrower.sql: by hand\n") {
		t.Error(s)
	}
	edit(t, "idemgen.yaml", "total: numeric(10,2)", "total: numeric(9,2)")
	refused(t, "E607", "generate")
}

func TestMigrationsAreGuarded(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	name := "migrations/0003_order_projector.sql"
	text := read(t, name)
	write(t, name, strings.ReplaceAll(text, "\n", "\r\n"))
	must(t, "check")
	write(t, name, text+"-- mine\n")
	refused(t, name+" was changed after idemgen wrote it", "generate")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	refused(t, name+" is missing, but recorded in idem.state.yaml", "generate")
	write(t, name, text)
	edit(t, "idemgen.yaml", "total: numeric(12,2)", "total: numeric(10,2)")
	write(t, "migrations/0004_mine.sql", "-- idemgen:by-hand orders.total\n")
	must(t, "generate")
	if err := os.Remove("migrations/0004_mine.sql"); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"generate", "check"} {
		refused(t, "migrations/0004_mine.sql is missing, but recorded in idem.state.yaml", verb)
	}
	if err := os.Remove("idem.state.yaml"); err != nil {
		t.Fatal(err)
	}
	refused(t, name+" is not recorded in idem.state.yaml", "generate")
}

// The generated code says what the state says: what it writes into the ledger, and behind what
// it goes on. An added field changes the definition of its own event's content, and nothing else.
func TestIdentityAndContentInTheCode(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	hash := regexp.MustCompile(`(?:identity: |Writes: +0x|Content: +0x|  - )([0-9a-f]{8})\b`)
	said := func(file string) (all []string) {
		for _, m := range hash.FindAllStringSubmatch(read(t, file), -1) {
			all = append(all, m[1])
		}
		return all
	}
	state, code, contents := said("idem.state.yaml"), said("idem_gen.go"), said("idem_orders_v1_gen.go")
	if len(state) != 2 || state[0] != state[1] || len(code) != 1 || code[0] != state[0] || len(contents) != 2 {
		t.Fatalf("%v, %v, %v", state, code, contents)
	}
	edit(t, "idemgen.yaml", "customer_id: string,", "customer_id: string, note: optional string,")
	edit(t, "idemgen.yaml", "      status: text\n", "      status: text\n      note: nullable text\n")
	must(t, "generate")
	if got := said("idem_gen.go"); !slices.Equal(got, code) {
		t.Errorf("identity %v, was %v", got, code)
	}
	if got := said("idem_orders_v1_gen.go"); got[0] == contents[0] || got[1] != contents[1] {
		t.Errorf("contents %v, were %v", got, contents)
	}
	edit(t, "idemgen.yaml", "header: Idempotency-Key", "header: Request-Id")
	must(t, "generate")
	if now := said("idem.state.yaml"); len(now) != 3 || now[0] == state[0] || now[1] != state[0] || now[2] != now[0] {
		t.Errorf("identities %v, were %v", now, state)
	}
	must(t, "check")
}

func TestConsumerRenamed(t *testing.T) {
	module(t, map[string]string{"idemgen.yaml": spec})
	must(t, "generate")
	edit(t, "idemgen.yaml", "order-projector", "orders-2")
	refused(t, `belongs to consumer "order-projector", but idemgen.yaml names "orders-2"`, "generate")
	edit(t, "idem.state.yaml", "consumer: order-projector", "consumer: orders-2")
	must(t, "generate")
	must(t, "check")
}
