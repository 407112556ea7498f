package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/examples/takeover"
	"github.com/idemgen/idemgen/runtime/franz"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// says runs a command that must end with a code, and print each text, however its lines are
// broken.
func says(t *testing.T, code int, args []string, want ...string) {
	t.Helper()
	got, out, stderr := run(t, args...)
	all := strings.Join(strings.Fields(out+stderr), " ")
	for _, text := range want {
		if !strings.Contains(all, text) {
			t.Errorf("idemgen %q says no %q", args, text)
		}
	}
	if got != code || t.Failed() {
		t.Errorf("idemgen %q: exit code %d, want %d\n%s%s", args, got, code, out, stderr)
	}
}

// shell runs a command line that is not one of idemgen.
func shell(t *testing.T, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// runTakeOver runs the service in the group of the program before it, until records are passed and
// so many dead letters are open.
func runTakeOver(t *testing.T, db *pgxpool.Pool, brokers string, records, open int64) {
	t.Helper()
	consumer, err := takeover.NewConsumer(db, idem.WithGroup("payments_projector.v2"), idem.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- consumer.Run(ctx, &franz.Source{Brokers: brokers, Logger: slog.New(slog.DiscardHandler)})
	}()
	const progress = `SELECT coalesce(sum(next), 0), (SELECT count(*) FROM idem_dead_letter WHERE resolved_at IS NULL)
FROM (SELECT DISTINCT ON (stream) next FROM idem_ledger ORDER BY stream, seq DESC) AS last`
	passed, dead := int64(-1), int64(-1)
	for end := time.Now().Add(time.Minute); passed != records || dead != open; time.Sleep(20 * time.Millisecond) {
		err := db.QueryRow(t.Context(), progress).Scan(&passed, &dead)
		if err != nil || time.Now().After(end) {
			t.Fatalf("%d records are passed, and %d dead letters are open, %v; Health: %v", passed, dead, err, consumer.Health().Err())
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// cents is what was paid to all accounts.
func cents(t *testing.T, db *pgxpool.Pool) (sum int64) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT sum(cents)::bigint FROM accounts`).Scan(&sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// The commands of docs/adopt.md take examples/takeover over: a group with offsets, and a table of
// processed ids.
func TestCommandsOfTheTakeOver(t *testing.T) {
	const example = "../../examples/takeover/"
	page, spec := read(t, "../../docs/adopt.md"), read(t, example+"idemgen.yaml")
	db := idemtest.DB(t)
	idemtest.Exec(t, db, read(t, example+"testdata/idem_external.sql"))
	idemtest.Exec(t, db, `INSERT INTO processed_messages SELECT 'payment-' || n FROM generate_series(1, 17) AS n`)
	broker := idemtest.Kafka(t, map[string]int32{"payments.v1": 2})
	produce := func(n int) {
		if err := broker.Produce(t.Context(), &idem.Message{
			Topic: "payments.v1", Partition: int32(n % 2), Value: fmt.Appendf(nil, `{"account_id":"a-%d","cents":%d}`, n%3, n),
			Headers: []idem.Header{{Name: "Idempotency-Key", Value: fmt.Appendf(nil, "payment-%d", n+1)}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 40 {
		produce(n)
	}
	if err := broker.Commit(t.Context(), "payments_projector.v2", "payments.v1", []int64{9, 8}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DATABASE_URL", db.Config().ConnString())
	t.Setenv("KAFKA_BROKERS", broker.Addr())

	idemtest.Migrate(t, db, example+"migrations")
	module(t, map[string]string{"idemgen.yaml": spec})
	commandtest.Generate(t)
	shell(t, "git init -q -b main && git add -A && git commit -q -m first")
	finish := func(t *testing.T, args []string) {
		start := strings.LastIndex(spec, "          - insert: processed_messages\n")
		_, tables, _ := strings.Cut(spec, "  processed_messages:\n")
		tables, _, _ = strings.Cut(tables, "\ntopics:")
		write(t, "idemgen.yaml", strings.NewReplacer("  processed_messages:\n"+tables, "", "    start_from: committed\n", "").Replace(spec[:start]))
		defer write(t, "idemgen.yaml", spec)
		_, out, _ := run(t, args...)
		if says(t, done, args, "tables.processed_messages is gone. This version starts with or without it", "start_from is gone", "write changed"); strings.Count(out, "- **") != strings.Count(out, "- **compatible**") {
			t.Errorf("not all of it is compatible:\n%s", out)
		}
	}
	adopted := 0
	var adopt []string // the command
	played := idemgen.Play(t, page, 7, map[string]func(*testing.T, []string){
		"init": func(t *testing.T, args []string) {
			module(t, nil)
			says(t, done, args)
			want := "\n  payments.v1:"
			if args[1] == "--from-db" {
				want = "\n  processed_messages:\n    external: true\n"
			}
			if text := read(t, "idemgen.yaml"); !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		},
		"adopt keys": func(t *testing.T, args []string) {
			adopted++
			adopt = args
			says(t, done, args, "17 keys of PaymentReceived were adopted by payments-projector")
		},
		"doctor": func(t *testing.T, args []string) { // whose exit code is that of a server for tests
			want := []string{"topic payments.v1 "}
			if len(args) > 1 {
				want = append(want, "group payments_projector.v2 it has no members", "partition payments.v1/0 begins at the group's committed offset 9")
			}
			says(t, command.Different, args, want...)
		},
		"find": func(t *testing.T, args []string) {
			runTakeOver(t, db, broker.Addr(), 40, 0)
			says(t, done, args, "another program had applied it: its key was adopted")
		},
		"dead list": func(t *testing.T, args []string) { says(t, done, args, "no open dead letters") },
		"dead replay": func(t *testing.T, args []string) { // of an event that the other program applied, and whose id was not adopted
			idemtest.Exec(t, db, `INSERT INTO processed_messages VALUES ('payment-41')`)
			before := cents(t, db)
			produce(40)
			runTakeOver(t, db, broker.Addr(), 41, 1)
			says(t, done, adopt)
			says(t, done, args)
			runTakeOver(t, db, broker.Addr(), 41, 0)
			if after := cents(t, db); after != before {
				t.Errorf("the accounts have %d cents, and had %d", after, before)
			}
		},
		"plan": finish,
		"stream set": func(t *testing.T, args []string) {
			if args[len(args)-1] == "--to" {
				args = append(args, "9", "--topic", "payments.v1", "--partition", "0", "--reason", "the group's offset", "--apply-again", "--dry-run")
			}
			says(t, done, args, "payments.v1/0")
		},
	})
	if !played["plan"] {
		t.Run("finish", func(t *testing.T) { finish(t, []string{"plan"}) })
	}
	if adopted == 0 {
		t.Error("no ids were adopted")
	}
}
