package verdict

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// mine is an error of a handler's own.
type mine struct{ error }

func (e mine) Unwrap() error { return e.error }

// Whatever tells of an error of the database, nobody can take a value of a record out of it; what
// says where to look stays, and so do a handler's own errors.
func TestNothingUnwrapsToAValue(t *testing.T) {
	state := func(code string) error {
		return mine{&pgconn.PgError{
			Code: code, Message: "4242", Detail: "4242", Hint: "4242", Where: "4242", InternalQuery: "4242",
			TableName: "orders", ColumnName: "id", ConstraintName: "orders_pkey", DataTypeName: "integer",
		}}
	}
	call := &wire.Call{Message: &wire.Message{}}
	for name, err := range map[string]error{
		"described":       Describe(state("23505")),
		"described twice": Describe(fmt.Errorf("again: %w", Describe(state("23505")))),
		"of a handler":    &HandlerError{Call: call, Err: state("23505")},
		"overdue":         &overdueError{err: state("57014")},
	} {
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "4242") {
				t.Errorf("%s: %T says %v", name, e, e)
			}
		}
		pg, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || strings.Contains(fmt.Sprintf("%+v", *pg), "4242") {
			t.Errorf("%s: %+v", name, pg)
			continue
		}
		if pg.TableName != "orders" || pg.ColumnName != "id" || pg.ConstraintName != "orders_pkey" || pg.DataTypeName != "integer" {
			t.Errorf("%s: it does not say where: %+v", name, pg)
		}
		if _, ok := errors.AsType[mine](err); !ok {
			t.Errorf("%s: the handler's own error is lost", name)
		}
	}
	encode := WithoutValue(errors.New("failed to encode args[1]: unable to encode 4242"))
	for e := encode; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "4242") {
			t.Errorf("the driver: %T says %v", e, e)
		}
	}
}

// An error says the same however often it was described.
func TestDescribedTwiceSaysTheSame(t *testing.T) {
	for _, pg := range []*pgconn.PgError{
		{Code: "23514", TableName: stepRefused, Detail: "Failing row contains (no row with this key, orders)."}, {Code: "42P01", Message: "no table"}, {Code: "40001"},
	} {
		once := Describe(pg)
		if twice := Describe(once); twice.Error() != once.Error() {
			t.Errorf("%q, then %q", once, twice)
		}
	}
}
