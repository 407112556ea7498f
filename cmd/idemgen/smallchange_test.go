package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small change of the spec is a small change of what a reviewer reads: Go and SQL, without
// the generated tests and their data. Lines that go and lines that come both count, also
// those that gofmt only aligns anew, but not empty ones.
func TestSmallChangesStaySmall(t *testing.T) {
	const column, enum = 30, 5
	for name, change := range map[string]struct {
		spec  string
		edits []string // old, new, old, new, ..
		most  int
	}{
		"orders, an optional field": {"../../examples/orders", []string{
			"      note: nullable text\n", "      note: nullable text\n      coupon: nullable text\n",
			"          note: optional string\n", "          note: optional string\n          coupon: optional string\n",
		}, column},
		"kitchen_sink, an optional field of an upsert": {"../../testdata/golden/accepted/kitchen_sink", []string{
			"      delivery: nullable jsonb\n", "      delivery: nullable jsonb\n      coupon: nullable text\n",
			"          delivery: optional Address\n", "          delivery: optional Address\n          coupon: optional string\n",
		}, column},
		"kitchen_sink, a last optional column": {"../../testdata/golden/accepted/kitchen_sink", []string{
			"      changed_at: timestamptz\n", "      changed_at: timestamptz\n      coupon: nullable text\n",
			"          lines: list(Line)\n", "          lines: list(Line)\n          coupon: optional string\n",
		}, column},
		"telemetry, an optional field": {"../../examples/telemetry", []string{
			"      firmware: varchar(32)\n", "      firmware: varchar(32)\n      mode: nullable text\n",
			"          firmware: {type: string, default: unknown}\n", "          firmware: {type: string, default: unknown}\n          mode: optional string\n",
		}, column},
		"orders, a text of an enum": {"../../examples/orders", []string{"[web, app, phone]", "[web, app, phone, shop]"}, enum},
		"kitchen_sink, a text of an enum": {"../../testdata/golden/accepted/kitchen_sink", []string{
			"cancelled: CANCELLED}", "cancelled: CANCELLED, returned: RETURNED}",
		}, enum},
	} {
		t.Run(name, func(t *testing.T) {
			from, err := filepath.Abs(change.spec)
			if err != nil {
				t.Fatal(err)
			}
			module(t, nil)
			if err := os.CopyFS(".", os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			must(t, "generate")
			for i := 0; i < len(change.edits); i += 2 {
				edit(t, "idemgen.yaml", change.edits[i], change.edits[i+1])
			}
			code, diff, stderr := run(t, "check")
			if code != different {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			if n, lines := reviewed(diff); n == 0 || n > change.most {
				t.Errorf("%d lines change, want 1 to %d\n%s", n, change.most, lines)
			}
		})
	}
}

// reviewed counts the lines of Go and SQL that a diff removes and adds, less those of tests.
func reviewed(diff string) (n int, lines string) {
	counts := false
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			name = strings.TrimSpace(name)
			counts = strings.HasSuffix(name, ".sql") || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		} else if counts && (line[0] == '+' || line[0] == '-' && !strings.HasPrefix(line, "--- ")) {
			lines += line
			if len(strings.TrimSpace(line)) > 1 {
				n++
			}
		}
	}
	return n, lines
}
