package main

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// deliveries is the spec that docs/changes.md speaks of.
const deliveries = `version: 1
consumer: stock-keeper
package: orders
tables:
  deliveries:
    primary_key: [id]
    columns: {id: text, site: varchar(30), parcel_no: text, note: nullable text}
topics:
  deliveries.v1:
    idempotency_key: {source: {record: offset}}
    events:
      Delivered:
        fields: {id: string, site: string, parcel_no: string}
        write: [{insert: deliveries, leave: [note]}]
`

// blockWith is the block of code of a page that has a text.
func blockWith(t *testing.T, page, text string) string {
	t.Helper()
	for _, block := range commandtest.Code(page) {
		if strings.Contains(block, text) && strings.Contains(block, "\n") {
			_, lines, _ := strings.Cut(block, "\n")
			return lines
		}
	}
	t.Fatalf("no block with %q", text)
	return ""
}

// The commands of docs/changes.md say what a change means, and generate what it needs.
func TestCommandsOfChanges(t *testing.T) {
	page := read(t, "../../docs/changes.md")
	column := func(name string) {
		t.Helper()
		text := read(t, "idemgen.yaml")
		leaves := strings.NewReplacer("note: nullable text", "note: nullable text, "+name+": nullable text", "leave: [", "leave: ["+name+", ")
		write(t, "idemgen.yaml", leaves.Replace(text))
	}
	start := func(t *testing.T) {
		t.Helper()
		module(t, map[string]string{"idemgen.yaml": deliveries})
		must(t, "generate")
		shell(t, "git init -q -b main && git add -A && git commit -q -m first && git update-ref refs/remotes/origin/main main")
	}
	idemgen.Play(t, page, 4, map[string]func(*testing.T, []string){
		"generate": func(t *testing.T, args []string) {
			start(t)
			column("dock")
			says(t, done, args, "create migrations/0003_stock_keeper.sql", "update idem.state.yaml")
		},
		"plan": func(t *testing.T, args []string) {
			start(t)
			column("dock")
			want := `column "dock" of "deliveries" is new`
			if len(args) == 3 { // old and new
				write(t, args[1], deliveries)
				write(t, args[2], read(t, "idemgen.yaml"))
			}
			says(t, done, args, "- **migration appended**: "+want)
		},
		"check": func(t *testing.T, args []string) {
			start(t)
			says(t, done, args)
			column("dock")
			says(t, command.Different, args, "migrations/0003_stock_keeper.sql")
		},
	})
	t.Run("formats", func(t *testing.T) {
		for flag, want := range map[string]string{"--format github": "::error file=idem.state.yaml", "--format sarif": `"version": "2.1.0"`, "--json": `"diagnostics": []`} {
			start(t)
			column("dock")
			if !strings.Contains(page, flag) {
				t.Errorf("the page does not name %s", flag)
			}
			says(t, command.Different, append([]string{"check"}, strings.Fields(flag)...), want)
		}
	})
	t.Run("by hand", func(t *testing.T) {
		start(t)
		commandtest.Edit(t, "idemgen.yaml", "varchar(30)", "varchar(20)")
		commandtest.Edit(t, "idemgen.yaml", "primary_key: [id]", "primary_key: [id]\n    unique: [[parcel_no]]")
		refused(t, "-- idemgen:by-hand deliveries.site", "generate")
		write(t, "migrations/0003_site.sql", blockWith(t, page, "-- idemgen:by-hand deliveries.site"))
		must(t, "generate")
		idemtest.Migrate(t, idemtest.DB(t), "migrations")
	})
	t.Run("two branches", func(t *testing.T) {
		start(t)
		shell(t, "git checkout -q -b other")
		for _, name := range []string{"lane", "dock"} {
			column(name)
			must(t, "generate")
		}
		shell(t, "git add -A && git commit -q -m theirs && git checkout -q main")
		column("gate")
		must(t, "generate")
		shell(t, "git add -A && git commit -q -m ours; git merge -q other || true")
		merged := strings.NewReplacer("note: nullable text", "note: nullable text, dock: nullable text, lane: nullable text, gate: nullable text",
			"leave: [", "leave: [dock, lane, gate, ").Replace(deliveries)
		write(t, "idemgen.yaml", merged)
		for line := range strings.Lines(blockWith(t, page, "git checkout --ours")) {
			switch args := commandtest.Words(line); {
			case len(args) == 0:
			case args[0] == "idemgen":
				must(t, args[1:]...)
			default:
				shell(t, line)
			}
		}
		must(t, "check")
	})
}
