package gocode_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRender renders fifty topics of ten events each.
func BenchmarkRender(b *testing.B) {
	head, topic, _ := strings.Cut(reading, "topics:\n")
	spec := strings.Replace(head, "tables:\n", "tables:\n", 1) + "topics:\n"
	tables := ""
	event := topic[strings.Index(topic, "      Reading:"):]
	for i := range 50 {
		spec += fmt.Sprintf("  readings%d:\n    idempotency_key: {source: {record: offset}}\n    event_type: {header: t}\n    events:\n", i)
		for j := range 10 {
			name := fmt.Sprintf("R%dx%d", i, j)
			spec += strings.NewReplacer("      Reading:", "      "+name+":\n        type: t"+name, "device_state", "d"+strings.ToLower(name), "Reading is", name+" is").Replace(event)
			tables += strings.Replace(head[strings.Index(head, "  device_state:"):], "device_state", "d"+strings.ToLower(name), 1)
		}
	}
	s := load(b, strings.Replace(spec, "tables:\n", "tables:\n"+tables, 1))
	for b.Loop() {
		if files := render(b, s); len(files) != 101 {
			b.Fatal(len(files))
		}
	}
}
