package verdict

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A mark that a handler or an effect sets is found however the error is wrapped, and changes
// neither its text nor its chain. It means nothing else, and no error stays none.
func TestMarksOfErrors(t *testing.T) {
	cause := errors.New("cause")
	for name, c := range map[string]struct {
		mark func(error) error
		want string // permanent, pause, unavailable, outcome
	}{
		"none":         {func(err error) error { return err }, "false false 0s false false false false"},
		"permanent":    {Permanent, "true true 0s false false false false"},
		"retry":        {func(err error) error { return RetryAfter(time.Second, err) }, "false false 1s true false false false"},
		"retry, usual": {func(err error) error { return RetryAfter(-1, err) }, "false false -1ns true false false false"},
		"interrupted":  {Interrupted, "false false 0s false false true true"},
		"not done":     {NotDone, "false false 0s false false false true"},
		"unavailable":  {Unavailable, "false false 0s false true false false"},
	} {
		if err := c.mark(nil); err != nil {
			t.Errorf("%s: no error became %v", name, err)
		}
		marked := c.mark(cause)
		if marked.Error() != "cause" || !errors.Is(marked, cause) {
			t.Errorf("%s: %v", name, marked)
		}
		for _, err := range []error{marked, fmt.Errorf("wrapped: %w", marked), c.mark(fmt.Errorf("wrapped: %w", cause))} {
			after, asked := Pause(err)
			unknown, said := SaidUnknown(err)
			if got := fmt.Sprint(SaidPermanent(err), IsPermanent(err), after, asked, IsUnavailable(err), unknown, said); got != c.want {
				t.Errorf("%s, %q: %s, want %s", name, err, got, c.want)
			}
		}
	}
}

// What the event itself causes is permanent without a mark.
func TestErrorsThatArePermanent(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"decoding":          {fmt.Errorf("x: %w", &wire.DecodeError{}), true},
		"a conflict":        {fmt.Errorf("x: %w", &wire.ConflictError{}), true},
		"a value":           {&pgconn.PgError{Code: "22003"}, true},
		"a lock":            {&pgconn.PgError{Code: "55P03"}, false},
		"no table":          {&pgconn.PgError{Code: "42P01"}, false},
		"any other":         {errors.New("no"), false},
		"a lost connection": {&net.OpError{Op: "read", Err: errors.New("reset")}, false},
	} {
		if got := IsPermanent(c.err); got != c.want {
			t.Errorf("%s: permanent %t, want %t", name, got, c.want)
		}
	}
}

// Only a connection that could not be opened says that nothing was sent to the provider.
func TestConnectionsThatWereNeverOpened(t *testing.T) {
	for op, never := range map[string]bool{"dial": true, "proxyconnect": true, "socks connect": true, "read": false, "write": false, "close": false} {
		err := fmt.Errorf("post: %w", &net.OpError{Op: op, Err: errors.New("refused")})
		if NeverConnected(err) != never || IsUnavailable(err) != never {
			t.Errorf("%s: never connected %t, unavailable %t, want %t", op, NeverConnected(err), IsUnavailable(err), never)
		}
	}
}

// Only the trigger on the ledger refuses a handler's COMMIT.
func TestOnlyTheTriggerRefusesACommit(t *testing.T) {
	refused := pgconn.PgError{Code: "2D000", TableName: "idem_ledger", ConstraintName: "idem_ledger_commit"}
	if !CommitRefused(&refused) {
		t.Error("the trigger's error is not known")
	}
	for _, edit := range []func(*pgconn.PgError){
		func(e *pgconn.PgError) { e.Code = "23514" }, func(e *pgconn.PgError) { e.TableName = "t" }, func(e *pgconn.PgError) { e.ConstraintName = "c" },
	} {
		other := refused
		if edit(&other); CommitRefused(&other) {
			t.Errorf("%+v counts as the trigger's", other)
		}
	}
}

func TestOutcomesInWords(t *testing.T) {
	cause := errors.New("out of range")
	for want, err := range map[string]error{
		"refused":                              &Halt{Code: halt.Database, Reason: "refused"},
		"refused: out of range":                &Halt{Code: halt.Database, Reason: "refused", Err: cause},
		"will be retried: out of range":        &Later{Err: cause},
		"handler Paid, offset 7: out of range": &HandlerError{Call: &wire.Call{Event: "Paid", Message: &wire.Message{Offset: 7}}, Err: cause},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		if has := want != "refused"; errors.Is(err, cause) != has {
			t.Errorf("%q: the cause is in the chain: %t, want %t", want, !has, has)
		}
	}
}

// A changed search_path or role shows as a name that is not found, or a right that is missing;
// a function of the user's may raise the same.
func TestErrorsThatAChangedSettingMayCause(t *testing.T) {
	for code, may := range map[string]bool{"42P01": true, "42883": true, "42703": true, "42501": true, "3F000": true, "42601": false, "22003": false} {
		err := fmt.Errorf("x: %w", &pgconn.PgError{Code: code})
		if got := MayBeSettings(err); got != may {
			t.Errorf("%s: %t, want %t", code, got, may)
		}
	}
	raised := &pgconn.PgError{Code: "42P01", Where: "PL/pgSQL function f() line 1 at RAISE", Routine: "exec_stmt_raise"}
	if MayBeSettings(raised) != !Raised(raised) || !Raised(raised) {
		t.Errorf("raised %t, may be settings %t", Raised(raised), MayBeSettings(raised))
	}
	if MayBeSettings(errors.New("no")) || MayBeSettings(nil) {
		t.Error("errors of others count")
	}
}

// The driver's text about a value keeps its place, and loses the value.
func TestDriversTextsLoseTheValue(t *testing.T) {
	if WithoutValue(nil) != nil {
		t.Error("no error became one")
	}
	for text, want := range map[string]string{
		`failed to encode args[2]: unable to encode "secret" into binary format for int4 (OID 23): cannot find encode plan`: "failed to encode args[2]: the driver cannot encode a value of a statement",
		`of "secret": unable to encode "secret" into text`:                                                                  "the driver cannot encode a value of a statement",
		"refused": "refused",
	} {
		err := errors.New(text)
		got := WithoutValue(err)
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
