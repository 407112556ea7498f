package operators

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// locker begins a transaction of another session, which runs a statement.
func locker(t *testing.T, db *pgxpool.Pool, sql string) (tx pgx.Tx) {
	t.Helper()
	cfg := db.Config().ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] = "a migration"
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if tx, err = conn.Begin(t.Context()); err == nil {
		_, err = tx.Exec(t.Context(), sql)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// Where another session has locked a table, doctor says which table and which session, and makes
// all checks that do not read it.
func TestDoctorNamesTheLockThatItWaitsFor(t *testing.T) {
	t.Parallel()
	db := aShop(t)
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	// examined returns what the checks are about, and the failures.
	examined := func() (about, fails []string) {
		_, out, stderr := run(t, "doctor", "../../../../examples/orders", at(db), "--json")
		var answer struct {
			Checks []struct{ State, About, Found, Advice string }
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatalf("%v\n%s%s", err, out, stderr)
		}
		for _, c := range answer.Checks {
			about = append(about, c.About)
			if c.State == "FAIL" && c.About != "durability" {
				fails = append(fails, c.About+": "+c.Found+" = "+c.Advice)
			}
		}
		return about, fails
	}
	all, _ := examined()
	for sql, want := range map[string][2]string{
		`LOCK TABLE idem_ledger IN ACCESS EXCLUSIVE MODE`:      {"ledgers", "idem_ledger"},
		`LOCK TABLE idem_stream IN ACCESS EXCLUSIVE MODE`:      {"ledgers", "idem_stream"},
		`LOCK TABLE idem_dead_letter IN ACCESS EXCLUSIVE MODE`: {"ledgers", "idem_dead_letter"},
		`LOCK TABLE idem_outbox IN ACCESS EXCLUSIVE MODE`:      {"outbox", "idem_outbox"},
		`ALTER TABLE orders ADD COLUMN another int`:            {"tables", "orders"},
		`LOCK TABLE idem_schema IN ACCESS EXCLUSIVE MODE`:      {"migrations", "idem_schema"},
	} {
		t.Run(sql, func(t *testing.T) {
			tx := locker(t, db, sql)
			defer func() { _ = tx.Rollback(context.Background()) }()
			about, fails := examined()
			pattern := fmt.Sprintf(`^%s: a statement waits for a lock on table public.%s: held by `+
				`pid \d+, a migration, \S+, idle in transaction, since 20\S+Z = end that session, `, want[0], want[1])
			if len(fails) != 1 || !regexp.MustCompile(pattern).MatchString(fails[0]) {
				t.Errorf("got %q, want %q", fails, pattern)
			}
			for _, check := range all {
				if !slices.Contains(about, check) && (check != "dead letters" || want[0] != "ledgers") {
					t.Errorf("nothing is said about %s, only about %q", check, about)
				}
			}
		})
	}
}

// Other commands report a lock while they wait for it, and continue when it is released.
func TestCommandsNameTheLockThatTheyWaitFor(t *testing.T) {
	t.Parallel()
	db := aShop(t)
	for _, args := range [][]string{
		{"stream", "list", "--consumer", "order-projector"},
		{"dead", "list", "--consumer", "order-projector"},
		{"find", "orders.v1", "--offset", "0:3"},
	} {
		t.Run(args[0], func(t *testing.T) {
			tx := locker(t, db, `LOCK TABLE idem_stream IN ACCESS EXCLUSIVE MODE`)
			var out bytes.Buffer
			said := &firstLine{line: make(chan string, 1)}
			ended := make(chan int, 1)
			go func() { ended <- command.Run(t.Context(), append(args, at(db)), &out, said, Commands()...) }()
			select {
			case line := <-said.line:
				if !strings.Contains(line, "a statement waits for a lock on table public.idem_stream: held by ") || !strings.Contains(line, ", a migration, ") {
					t.Errorf("it says %q", line)
				}
			case code := <-ended:
				t.Fatalf("it ended with code %d: %s", code, out.String())
			case <-time.After(time.Minute):
				t.Fatal("it says nothing")
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if code := <-ended; code != done {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// firstLine passes on what was written first.
type firstLine struct{ line chan string }

func (f *firstLine) Write(b []byte) (int, error) {
	select {
	case f.line <- string(b):
	default:
	}
	return len(b), nil
}
