package resolve

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// repeated makes one text of many.
func repeated(count int, format string) string {
	var b strings.Builder
	for n := range count {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(n)))
	}
	return b.String()
}

// large are specs as large as they may be, each in another place.
func large() map[string]string {
	const head = "version: 1\nconsumer: c\npackage: p\n"
	const table = "tables: {t: {primary_key: [id], columns: {id: uuid, a: text}}}\n"
	const topic = "topics:\n  t:\n    record_key: {id: uuid}\n    assume: [ordered]\n    event_type: {header: x}\n    idempotency_key: {source: {header: k}, window: 8d}\n    events:\n"
	const event = "      E: {type: e, fields: {a: string}, write: [{upsert: t}]}\n"
	flow := func(count int, format string) string { return strings.TrimSuffix(repeated(count, format), ", ") }
	return map[string]string{
		"tables": head + "tables:\n" + repeated(1000, "  t#: {primary_key: [id], columns: {id: uuid, a: text}}\n") + topic + strings.Replace(event, "t}", "t0}", 1),
		"events": head + table + topic + repeated(1000, "      E#: {type: e#, fields: {a: string}, write: [{upsert: t}, {delete: t}]}\n"),
		"topics": head + table + "topics:\n" + repeated(1000, "  t#: {idempotency_key: {source: {header: k}, window: 8d}, events: {E#: {fields: {id: uuid, a: string}, write: [{insert: t}]}}}\n"),
		"topics that overwrite": head + table + "topics:\n" + repeated(110, "  t#: {event_type: {header: x}, idempotency_key: {source: {header: k}, window: 8d}, events: {"+
			flow(20, "E&x#: {type: e#, fields: {id: uuid, a: string}, write: [{upsert: t}]}, ")+"}}\n"),
		"steps":          head + table + topic + repeated(60, "      E#: {type: e#, fields: {a: string}, write: ["+flow(250, "{upsert: t}, ")+"]}\n"),
		"unknown tables": head + "tables:\n" + repeated(60, "  table#: {primary_key: [id], columns: {id: uuid, a: text}}\n") + topic + repeated(40, "      E#: {type: e#, fields: {a: string}, write: ["+flow(200, "{upsert: tabel#}, ")+"]}\n"),
		"unknown types":  head + "types:\n" + repeated(1000, "  T#: {fields: {a: strang#}}\n"),
		"foreign keys":   head + "tables:\n  t: {primary_key: [id], columns: {id: uuid, a: text}}\n" + repeated(990, "  t#: {primary_key: [id], columns: {id: uuid}, foreign_keys: [{columns: [id], references: t, on_delete: cascade}]}\n") + topic + event,
		"one line":       head + "tables: {" + flow(500, "t#: {primary_key: [id], columns: {"+flow(35, "C#: tex, ")+"}}, ") + "}\n",
		"wrong kinds":    head + "tables: [" + strings.Repeat("[x], ", 999) + "]\n" + topic + event,
	}
}

// A spec from a stranger is read, and its problems are printed, in little memory. What a wrong
// order of growth would take is far more.
func TestLargeSpecsTakeLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	for name, text := range large() {
		text = strings.ReplaceAll(text, "&", "")
		if len(text) > 1<<20 {
			t.Fatalf("%s: %d bytes", name, len(text))
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		spec, problems := syntax.Load("s.yaml", []byte(text))
		if spec != nil {
			_, more := Resolve(spec)
			problems.Append(more)
		}
		if err := problems.Print(io.Discard, "s.yaml", []byte(text)); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		t.Logf("%s: %d KiB, %d MiB allocated in all, %d problems", name, len(text)>>10, (after.TotalAlloc-before.TotalAlloc)>>20, problems.Errors())
		most := uint64(200 << 20)
		if name == "unknown tables" { // nothing is kept for each pair of a wrong name and a right one
			most = 70 << 20
		}
		if after.TotalAlloc-before.TotalAlloc > most {
			t.Errorf("%s: allocates %d MiB in all", name, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}
