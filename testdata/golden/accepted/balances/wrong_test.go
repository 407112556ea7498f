package balances

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

const (
	handlerVariable = "BALANCES_HANDLER"
	onPurpose       = "BALANCES_CHANGES_NO_ROW"
)

func init() {
	if names := os.Getenv(onPurpose); names != "" {
		idemtest.ChangesNoRow(strings.Split(names, " ")...)
	}
}

// idle does nothing.
type idle struct{ Service }

func (idle) Captured(context.Context, idem.Tx, Captured) error { return nil }

// A handler that changes no row fails, unless a line says that this is on purpose. The line fails
// if it is not true.
func TestAHandlerThatChangesNoRowIsNamed(t *testing.T) {
	for _, c := range []struct{ handler, names, says string }{
		{"idle", "", "the handler of Captured (handler.go:14) changes no row, so these tests prove nothing about it"},
		{"idle", "Captured", ""},
		{"", "Captured", "the handler of Captured (handler.go:14) changes rows: remove it from ChangesNoRow"},
		{"", "Catured", `ChangesNoRow: idemgen.yaml has no handled event "Catured"; did you mean "Captured"?`},
	} {
		t.Setenv(onPurpose, c.names)
		if out, passed := play(t, c.handler, "^TestMoneyV1$/^handlers$/^every_handler_changes_a_row$"); passed != (c.says == "") || !strings.Contains(out, c.says) {
			t.Errorf("%q, %q: passed %v; want %q in\n%s", c.handler, c.names, passed, c.says, out)
		}
	}
}

// overwrites forgets what was there.
type overwrites struct{ Service }

func (overwrites) Captured(ctx context.Context, tx idem.Tx, e Captured) error {
	return book(ctx, tx, `UPDATE accounts SET balance = $2 WHERE account_id = $1`, e.AccountID, e.Amount)
}

// outside writes what no crash takes back.
type outside struct {
	Service
	db *pgxpool.Pool
}

func (h outside) Captured(ctx context.Context, _ idem.Tx, e Captured) error {
	_, err := h.db.Exec(ctx, `UPDATE accounts SET balance = balance + $2 WHERE account_id = $1`, e.AccountID, e.Amount)
	return err
}

// play runs generated tests of this package with another handler, in a process of their own.
func play(t *testing.T, handler, tests string) (output string, passed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.run="+tests)
	cmd.Env = append(os.Environ(), handlerVariable+"="+handler)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// A handler that overwrites a balance instead of adding to it is the same every time, so a log of
// generated records, which compares it with itself, cannot find it wrong. A case does.
func TestAHandlerThatOverwritesPassesTheLogAndFailsItsCase(t *testing.T) {
	if out, passed := play(t, "overwrites", "^TestMoneyV1$"); !passed {
		t.Errorf("the generated log finds it wrong by itself: the case proves nothing\n%s", out)
	}
	out, passed := play(t, "overwrites", "^TestCases$/^captures_and_refund$")
	for _, want := range []string{
		"--- FAIL: TestCases/captures_and_refund/once",
		`accounts account_id=3f0c2a51-7f0e-4a37-9a42-5f0c7d1e2b01: balance: want 12.50, got -17.50`,
	} {
		if passed || !strings.Contains(out, want) {
			t.Errorf("passed %v; want %q in\n%s", passed, want, out)
		}
	}
}

// twice writes through its transaction, and then beside it.
type twice struct{ outside }

func (h twice) Captured(ctx context.Context, tx idem.Tx, e Captured) error {
	if err := h.Service.Captured(ctx, tx, e); err != nil {
		return err
	}
	return h.outside.Captured(ctx, tx, e)
}

// A handler that writes beside its transaction is right as long as nothing is rolled back. The log
// finds it by itself, and says so even if the handler then waits for its own transaction.
func TestAHandlerThatWritesOutsideItsTransactionFails(t *testing.T) {
	const wrote, waits = "the handler of Captured (handler.go:14) wrote table accounts outside tx", "likely cause: a handler wrote outside tx: on another connection it waits"
	for _, c := range []struct{ handler, of, says, or string }{
		{"outside", "TestMoneyV1/handlers/rolled_back,_then_applied", wrote, wrote},
		{"outside", "TestCases/captures_and_refund/rolled_back,_then_applied", wrote, wrote},
		{"twice", "TestMoneyV1/handlers", waits, wrote}, // on a busy machine, it writes once its own transaction has timed out
	} {
		out, passed := play(t, c.handler, "^"+strings.ReplaceAll(c.of, "/", "$/^")+"$")
		if says := strings.Contains(out, c.says) || strings.Contains(out, c.or); passed || !strings.Contains(out, "--- FAIL: "+c.of) || !says {
			t.Errorf("%s: passed %v; want that %s fails and says %q in\n%s", c.handler, passed, c.of, c.says, out)
		}
	}
}
