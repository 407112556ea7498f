package spec

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A small change of the spec is a small change of what a reviewer reads: Go and SQL, without
// the generated tests and their data. Lines that go and lines that come both count, also
// those that gofmt only aligns anew, but not empty ones. Of the package only files of the changed
// topic differ, and those that list tables; a change of a table is one more migration.
func TestSmallChangesStaySmall(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	const column, enum = 30, 5
	const screen = 40 // with a statement that has lines of another: a diff shows those as changed, too
	for name, change := range map[string]struct {
		spec  string
		topic string   // whose event is changed, as in the names of its files
		edits []string // old, new, old, new, ..
		most  int
	}{
		"bank, an optional field": {"../../../../examples/bank", "cards_v1", []string{
			"fills it.}\n      booked_at: timestamptz\n", "fills it.}\n      booked_at: timestamptz\n      merchant: nullable text\n",
			"fields: {currency: string}", "fields: {currency: string, merchant: optional string}",
		}, screen},
		"orders, an optional field": {"../../../../examples/orders", "orders_v1", []string{
			"      note: nullable text\n", "      note: nullable text\n      coupon: nullable text\n",
			"          note: optional string\n", "          note: optional string\n          coupon: optional string\n",
		}, column},
		"kitchen_sink, an optional field of an upsert": {"../../../../testdata/golden/accepted/kitchen_sink", "shop_orders_v1", []string{
			"      delivery: nullable jsonb\n", "      delivery: nullable jsonb\n      coupon: nullable text\n",
			"          delivery: optional Address\n", "          delivery: optional Address\n          coupon: optional string\n",
		}, column},
		"kitchen_sink, a last optional column": {"../../../../testdata/golden/accepted/kitchen_sink", "shop_orders_v1", []string{
			"      changed_at: timestamptz\n", "      changed_at: timestamptz\n      coupon: nullable text\n",
			"          lines: list(Line)\n", "          lines: list(Line)\n          coupon: optional string\n",
		}, column},
		"telemetry, an optional field": {"../../../../examples/telemetry", "telemetry_v1", []string{
			"      firmware: varchar(32)\n", "      firmware: varchar(32)\n      mode: nullable text\n",
			"          firmware: {type: string, default: unknown}\n", "          firmware: {type: string, default: unknown}\n          mode: optional string\n",
		}, column},
		"orders, a text of an enum": {"../../../../examples/orders", "orders_v1", []string{"[web, app, phone]", "[web, app, phone, shop]"}, enum},
		"kitchen_sink, a text of an enum": {"../../../../testdata/golden/accepted/kitchen_sink", "shop_orders_v1", []string{
			"CANCELLED]", "CANCELLED, RETURNED]",
		}, enum},
	} {
		t.Run(name, func(t *testing.T) {
			from, err := filepath.Abs(change.spec)
			if err != nil {
				t.Fatal(err)
			}
			module(t, nil)
			copyFiles(t, from)
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
			migrations := 0
			for _, file := range changedFiles(diff) {
				switch {
				case path.Base(path.Dir(file)) == "migrations":
					migrations++
				case file != "idem.state.yaml" && file != "idem_gen.go" && file != "idem_gen_test.go" && !strings.HasPrefix(strings.TrimPrefix(file, "testdata/"), "idem_"+change.topic+"_"):
					t.Errorf("%s differs, too", file)
				}
			}
			if tables := strings.Contains(strings.Join(change.edits, ""), ": nullable"); tables != (migrations == 1) || migrations > 1 {
				t.Errorf("%d migrations", migrations)
			}
		})
	}
}

// changedFiles are those that a diff changes or adds. One that it removes is /dev/null.
func changedFiles(diff string) (files []string) {
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			files = append(files, strings.TrimSpace(name))
		}
	}
	return files
}

// reviewed counts the lines of Go and SQL that a diff removes and adds, less those of tests.
func reviewed(diff string) (n int, lines string) {
	counts := false
	for line := range strings.Lines(diff) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			name = strings.TrimSpace(name)
			counts = path.Base(path.Dir(name)) == "migrations" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		} else if counts && (line[0] == '+' || line[0] == '-' && !strings.HasPrefix(line, "--- ")) {
			lines += line
			if len(strings.TrimSpace(line)) > 1 {
				n++
			}
		}
	}
	return n, lines
}

// copyFiles copies a folder to the current one, what links lead to in their place.
func copyFiles(t *testing.T, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to, err := filepath.Rel(from, path)
		if err == nil {
			write(t, to, read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
