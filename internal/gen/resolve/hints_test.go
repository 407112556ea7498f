package resolve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// refusedSpecs returns the golden specs that are refused.
func refusedSpecs(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden, "refused/*/idemgen.yaml"))
	if err != nil || len(files) < 90 {
		t.Fatalf("%d refused specs (%v)", len(files), err)
	}
	specs := map[string][]byte{}
	for _, file := range files {
		if specs[filepath.Base(filepath.Dir(file))], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return specs
}

// problems are those of a spec.
func problems(t *testing.T, file string, data []byte) []syntax.Diagnostic {
	t.Helper()
	spec, ds := syntax.Load(file, data)
	_, more := Resolve(spec)
	ds.Append(more)
	return ds.Sorted()
}

// builtWords are the keys of the language and the words that they take, from the schema for
// editors, which another test holds to what Load reads.
func builtWords(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for name := range properties {
					words[name] = true
				}
			}
			for key, child := range v {
				if texts, ok := child.([]any); ok && key == "enum" {
					for _, text := range texts {
						if text, ok := text.(string); ok {
							words[text] = true
						}
					}
				}
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	data, err := os.ReadFile("../../../schema/idemgen.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	walk(doc)
	for _, s := range typeword.Scalars {
		words[s.Word] = true
	}
	if len(words) < 90 {
		t.Fatalf("only %d words", len(words))
	}
	return words
}

// TestHintsNameOnlyWhatIsThere: every word of a hint with _ in it is one of the language, of the
// spec or of the database.
func TestHintsNameOnlyWhatIsThere(t *testing.T) {
	built := builtWords(t)
	database := strings.Fields("idem_dead_letter idem_dead_letter_topic idem_outbox pg_advisory_xact_lock search_path gen_random_uuid ce_ go_name payment_id order_id")
	inLibrary := regexp.MustCompile(`line [0-9]+ of \S+`)
	snake := regexp.MustCompile(`[a-z]+(_[a-z]*)+`)
	for file, data := range refusedSpecs(t) {
		for _, d := range problems(t, file, data) {
			for _, word := range snake.FindAllString(inLibrary.ReplaceAllString(d.Hint, ""), -1) {
				if !built[word] && !slices.Contains(database, word) && !strings.Contains(string(data), word) {
					t.Errorf("%s:%d: %s: hint %q names %s, which is nothing", file, d.Pos.Line, d.Code, d.Hint, word)
				}
			}
		}
	}
}

// replacement is what a hint says to write in place of what the caret marks.
var replacement = regexp.MustCompile(`^(?:did you mean|write|use) "([^".]+(?:\.[^".]+)?)"`)

// TestFollowedHintsHelp: whoever writes what a hint proposes in place of what is marked does
// not read the same problem there again, nor another one about the same words.
func TestFollowedHintsHelp(t *testing.T) {
	followed := 0
	for file, data := range refusedSpecs(t) {
		for _, d := range problems(t, file, data) {
			m := replacement.FindStringSubmatch(d.Hint)
			if m == nil || d.Code == "E113" || d.Code == "E102" { // there it is one of two, or no text is marked
				continue
			}
			lines := strings.Split(string(data), "\n")
			line := []rune(lines[d.Pos.Line-1])
			start, end := d.Pos.Col-1, min(d.Pos.Col-1+d.Pos.Width, len(line))
			if start < end && (line[start] == '"' || line[start] == '\'') {
				start, end = start+1, end-1
			}
			lines[d.Pos.Line-1] = string(line[:start]) + m[1] + string(line[end:])
			followed++
			for _, again := range problems(t, file, []byte(strings.Join(lines, "\n"))) {
				if again.Pos.Line == d.Pos.Line && again.Pos.Col == d.Pos.Col && (again.Code == d.Code || strings.Contains(again.Message, `"`+m[1]+`"`) && again.Code < "E107") {
					t.Errorf("%s:%d: %s: %s\nhint %q, and then: %s: %s", file, d.Pos.Line, d.Code, d.Message, d.Hint, again.Code, again.Message)
				}
			}
		}
	}
	if followed < 40 {
		t.Errorf("only %d hints followed", followed)
	}
}

// base is a spec in order; every case below breaks it, and mends it as the hint says.
const base = `version: 1
consumer: c
package: c
tables:
  orders:
    primary_key: [order_id]
    columns: {order_id: uuid, status: text, seen: boolean, created_at: timestamptz, note: nullable text, tags: nullable text array}
  lines: {primary_key: [order_id, line], columns: {order_id: uuid, line: integer, sku: text}}
topics:
  orders.v1:
    record_key: {order_id: uuid}
    assume: [ordered]
    idempotency_key: {source: payment_id, window: 8d}
    event_type: {header: type}
    events:
      OrderPlaced:
        type: order.placed
        fields: {payment_id: string, status: string, seen: bool, tags: optional list(string)}
        write:
          - upsert: orders
            set: {created_at: {now: true}}
            leave: [note]
      OrderPaid:
        type: order.paid
        fields: {payment_id: string, skus: list(string)}
        write:
          - update: orders
            set: {status: {value: paid}}
          - upsert: lines
            each: skus
            set: {order_id: order_id, line: {each: position}, sku: each}
`

// TestWrittenHintsHelp: a hint that proposes some lines of a spec is of use as it is printed.
func TestWrittenHintsHelp(t *testing.T) {
	if out := printed(t, "base", []byte(base)); out != "" {
		t.Fatal(out)
	}
	const (
		order   = "    assume: [ordered]\n"
		promise = "    assume: [copies_keep_record_key]\n"
		both    = "    assume: [ordered, copies_keep_record_key]\n"
		stored  = "    idempotency_key: {source: payment_id, window: 8d}\n"
		inOne   = "    idempotency_key: {source: payment_id, window: 8d, copies: same_partition}\n"
	)
	for _, c := range []struct{ code, old, broken, hint, mended string }{
		{"E207", "{created_at: {now: true}}", "{created_at: now}", "write {now: true}", "{created_at: {now: true}}"},
		{"E207", "{created_at: {now: true}}", "{created_at: now()}", "write {now: true}", "{created_at: {now: true}}"},
		{"E304", "{created_at: {now: true}}", "{created_at: {value: now}}", "write {now: true}", "{created_at: {now: true}}"},
		{"E304", "created_at: timestamptz", "created_at: {type: timestamptz, default: now}", "write now()", "created_at: {type: timestamptz, default: now()}"},
		{"E207", "line: {each: position}", "line: position", "write {each: position}", "line: {each: position}"},
		{"E207", "sku: each", "sku: sku.text", "declare text: {type: ..., path: sku.text}", "sku: each"},
		{"E106", "{status: {value: paid}}", "{status: {value: paid}, note: null}", "list the column under clear", "{status: {value: paid}}\n            clear: [note]"},
		{"E303", "set: {status: {value: paid}}", "clear: [status]", "set it to a value", "set: {status: {value: paid}}"},
		{"E409", "source: payment_id", "source: paymentid", `did you mean "payment_id"?`, "source: payment_id"},
		{"E409", "source: payment_id", "source: [payment_id, $.id]", "declare one with this path", "source: payment_id"},
		{"E106", "event_type: {header: type}", "event_type: type", "event_type: {header: type} or {path: type}", "event_type: {path: type}"},
		{"E106", "idempotency_key: {source: payment_id, window: 8d}", "idempotency_key: payment_id", "idempotency_key: {source: payment_id, window: 8d}", "idempotency_key: {source: payment_id, window: 8d}"},
		{"E106", "        type: order.paid\n", "        type: order.paid\n        effect: {if_interrupted: retry, lock: payment_id}\n", "lock: {orders: order_id}",
			"        type: order.paid\n        effect: {if_interrupted: retry, lock: {orders: payment_id}}\n"},
		{"E106", "assume: [ordered]", "assume: ordered", "assume: [ordered, ", "assume: [ordered]"},
		{"E402", "        type: order.paid\n", "", "for example type: order.paid", "        type: order.paid\n"},
		{"E213", "type: order.paid", "type: order.placed", "tell them apart by another text, event_type: [{header: event-type}, {header: version}], or merge them", "type: order.paid"},
		{"E601", "            leave: [note]\n", "", "list it under leave: for NULL in a new row", "            leave: [note]\n"},
		{"E601", "status: string, ", "", "declare a field of that name", "status: string, "},
		{"E208", "status: string", "status: \"text?\"", `write "optional string"`, "status: string"},
		{"E208", "status: string", "status: \"decimal(12,2)\"", `did you mean "decimal"? Length and digits are declared for the column`, "status: string"},
		{"E208", "status: string", "status: varchar(20)", `did you mean "string"?`, "status: string"},
		{"E208", "status: string", "status: unix_millis", `did you mean "epoch_ms"?`, "status: string"},
		{"E208", "status: string", "status: inet", `did you mean "string"?`, "status: string"},
		{"E208", "status: string", "status: timestamp-micros", `did you mean "epoch_us"?`, "status: string"},
		{"E208", "status: string", "status: \"decimal_bytes(12,2)\"", "write decimal_bytes(2) for two digits", "status: string"},
		{"E208", "status: string", "status: list", `write "list(string)"`, "status: string"},
		{"E208", "skus: list(string)", "skus: list<text>", `write "list(string)"`, "skus: list(string)"},
		{"E610", "status: text", "status: optional string", `write "nullable text"`, "status: nullable text"},
		{"E610", "tags: nullable text array", `tags: "nullable string[]"`, `write "nullable text array"`, "tags: nullable text array"},
		{"E610", "tags: nullable text array", "tags: nullable bytea array", `write "nullable jsonb"`, "tags: nullable jsonb"},
		{"E610", "status: text", "status: string null", `write "nullable text"`, "status: nullable text"},
		{"E610", "status: text", `status: "decimal(12,2)"`, `did you mean "numeric(12,2)"?`, "status: text"},
		{"E106", "record_key: {order_id: uuid}", "record_key: order_id", "write record_key: {order_id: uuid}", "record_key: {order_id: uuid}"},
		{"E308", "each: skus", "each: payment_id", `did you mean "skus"?`, "each: skus"},
		{"E304", "seen: boolean", "seen: {type: boolean, default: yes}", "write true or false", "seen: {type: boolean, default: true}"},
		{"E411", order + stored, order + inOne, "state assume: [ordered, copies_keep_record_key]", both + inOne},
		{"E411", "    record_key: {order_id: uuid}\n" + order + stored, inOne, "declare record_key, then ", "    record_key: {order_id: uuid}\n" + both + inOne},
		{"E104", order + stored, order + strings.Replace(inOne, "8d", "8d, copies_keep_record_key: true", 1), "write assume: [ordered, copies_keep_record_key]", both + inOne},
		{"E412", order + stored, both + stored, "or write copies: same_partition in idempotency_key", both + inOne},
		{"E412", order + stored, both + strings.Replace(inOne, "payment_id", "[order_id, payment_id]", 1), "remove it: the key contains the record key", order + strings.Replace(inOne, "payment_id", "[order_id, payment_id]", 1)},
		{"E413", "    record_key: {order_id: uuid}\n" + order + stored, promise + inOne, "declare record_key and add ordered", "    record_key: {order_id: uuid}\n" + both + inOne},
	} {
		broken := strings.Replace(base, c.old, c.broken, 1)
		found := slices.ContainsFunc(problems(t, "broken", []byte(broken)), func(d syntax.Diagnostic) bool {
			return d.Code == c.code && strings.Contains(d.Hint, c.hint)
		})
		if !found || broken == base {
			t.Errorf("%s for %q: no hint %q in\n%s", c.code, c.broken, c.hint, printed(t, "broken", []byte(broken)))
		}
		if out := printed(t, "mended", []byte(strings.Replace(base, c.old, c.mended, 1))); out != "" {
			t.Errorf("%q mended by %q:\n%s", c.broken, c.mended, out)
		}
	}
}

// TestKeyFieldsAreMissedWhereTheyAreMeant: a key that no event can make is misspelt, one that
// an event cannot make is missed by that event.
func TestKeyFieldsAreMissedWhereTheyAreMeant(t *testing.T) {
	at := func(spec string) string {
		for _, d := range problems(t, "s", []byte(spec)) {
			if d.Code == "E409" {
				return strings.TrimSpace(strings.Split(spec, "\n")[d.Pos.Line-1]) + " | " + d.Hint
			}
		}
		return ""
	}
	misspelt := at(strings.Replace(base, "source: payment_id", "source: paymentid", 1))
	if !strings.HasPrefix(misspelt, "idempotency_key:") {
		t.Error(misspelt)
	}
	other := at(strings.Replace(base, "{payment_id: string, skus", "{paymentid: string, skus", 1))
	if !strings.HasPrefix(other, "OrderPaid:") || !strings.Contains(other, `rename field "paymentid" to "payment_id"`) {
		t.Error(other)
	}
	lacks := at(strings.Replace(base, "{payment_id: string, skus", "{skus", 1))
	if !strings.HasPrefix(lacks, "OrderPaid:") || !strings.Contains(lacks, `declare field "payment_id" or give the event its own`) {
		t.Error(lacks)
	}
}

// A hint fits its mistake: an example has a name of the spec if there is a valid one. What follows
// from a mistake is not reported; two mistakes are two problems.
func TestHintsFitTheMistake(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
tables:
  rows: {primary_key: [k], columns: {k: text, n: {type: bigint, default: 0}, at: timestamptz}}
topics:
  t.v1:
    record_key: {k: string}
    assume: [ordered]
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      Seen:
        fields: {at: timestamp}
        write: [{upsert: rows, leave: [n]}]
        handle: true
`
	const keyed = "primary_key: [k], columns: {k: text, n: {type: bigint, default: 0}, at: timestamptz}"
	for _, c := range []struct {
		old, new, want, hint string
		n                    int
	}{
		{keyed, "columns: {k: text, n: {type: bigint, default: 0}, at: timestamptz}", `E604: table "rows" has no primary_key`, "for example primary_key: [k]", 1},
		{keyed, "columns: {Key: text, n: {type: bigint, default: 0}, at: timestamptz}", `E604: table "rows" has no primary_key`, "for example primary_key: [id]", 2},
		{keyed, "columns: {}", `E604: table "rows" has no primary_key`, "for example primary_key: [id]", 2},
		{keyed, "description: x", `E604: table "rows" has no primary_key`, "for example primary_key: [id]", 2},
		{"{upsert: rows, leave: [n]}", "{add: rows, where: {k: k}, set: {at: at}, leave: [n], if_missing: insert}", `E105: add step lacks the key "plus" or "minus"`, "", 1},
		{"{type: bigint, default: 0}", "{type: text, default: now}", "", "", 0},
		{"{type: bigint, default: 0}", "{type: bigint, default: now}", `E304: default "now" does not fit`, "write now(), in a timestamptz column", 1},
		{"{type: bigint, default: 0}", "{type: bigint, default: x}", `E304: default "x" does not fit`, "", 1},
	} {
		text := strings.Replace(spec, c.old, c.new, 1)
		got := printed(t, "s", []byte(text))
		if c.want == "" && got != "" || strings.Count(got, ": E") != c.n || !strings.Contains(got, c.want) || !strings.Contains(got, c.hint) {
			t.Errorf("%s:\n%swant %s, hint %s", c.new, got, c.want, c.hint)
		}
	}
}
