//go:build unix

package spec

import (
	"strings"
	"syscall"
	"testing"
)

// A file that a spec names may be a FIFO that nobody writes to: generate names it, and does not
// wait.
func TestGenerateDoesNotWaitForAFIFO(t *testing.T) {
	const messages = `version: 1
consumer: c
package: p
topics:
  t:
    payload: {encoding: %, schema: %}
    assume: [unique]
    idempotency_key: {source: {record: offset}}
    events: {E: {handle: true}}
`
	named := func(with ...string) string {
		text := messages
		for _, w := range with {
			text = strings.Replace(text, "%", w, 1)
		}
		return text
	}
	for name, c := range map[string]struct{ path, spec string }{
		"a .proto file": {"pipe.proto", named("protobuf", "pipe.proto#E")},
		"an import":     {"proto/pipe.proto", named("protobuf", "proto/e.proto#E")},
		"an .avsc file": {"pipe.avsc", named("avro", "pipe.avsc")},
		"examples":      {"pipe.json", spec + "examples: pipe.json\n"},
		"the spec":      {"idemgen.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			module(t, map[string]string{"proto/e.proto": `syntax = "proto3"; import "pipe.proto"; message E { string id = 1; }`})
			if c.spec != "" {
				write(t, "idemgen.yaml", c.spec)
			}
			if err := syscall.Mkfifo(c.path, 0o600); err != nil {
				t.Skip(err)
			}
			if code, stdout, stderr := run(t, "generate"); code == done || !strings.Contains(stderr, c.path+" is not a regular file") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}
