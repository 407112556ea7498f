package outage

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// An error of a role that lacks a right names the role, the object and the GRANT with all rights
// that the statement needs.
func TestNameRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ object, sql, want string }{
		{"table orders", `UPDATE orders SET paid = paid + $2 WHERE order_id = $1`, `GRANT SELECT, UPDATE ON orders TO "shop"`},
		{"table orders", `INSERT INTO orders VALUES ($1)`, `GRANT INSERT ON orders TO "shop"`},
		{"table orders", `insert into app.orders as o values ($1) on conflict (id) do update set v = $2`, `GRANT SELECT, INSERT, UPDATE ON app.orders TO "shop"`},
		{"table orders", `DELETE FROM ONLY "orders"`, `GRANT DELETE ON "orders" TO "shop"`},
		{"table Orders", `DELETE FROM "my app"."Orders"`, `GRANT DELETE ON "my app"."Orders" TO "shop"`},
		{"table orders", `WITH a AS (SELECT 1 FROM b JOIN orders USING (id) FOR UPDATE) DELETE FROM b`, `GRANT SELECT, UPDATE ON orders TO "shop"`},
		{"view orders", `SELECT * FROM orders`, `GRANT SELECT ON orders TO "shop"`},
		{"table orders", `SELECT of_orders()`, ""},
		{"table orders", "", ""},
		{"schema app", `SELECT 1`, `GRANT USAGE ON SCHEMA "app" TO "shop"`},
		{"sequence ids", `SELECT 1`, `GRANT USAGE ON SEQUENCE "ids" TO "shop"`},
		{"function total", `SELECT total()`, `GRANT EXECUTE ON FUNCTION "total" TO "shop"`},
	} {
		server := &pgconn.PgError{Code: "42501", Message: "permission denied for " + c.object, Routine: "aclcheck_error"}
		err := NameRight(fmt.Errorf("events: %w", server), "shop", c.sql)
		want := "role shop lacks a right on " + c.object + ": "
		if c.want != "" {
			want += c.want + ": "
		}
		if want += "SQLSTATE 42501"; err.Error() != want {
			t.Errorf("%s of %s:\ngot  %v\nwant %s", c.sql, c.object, err, want)
		}
		if !errors.Is(err, error(server)) {
			t.Errorf("%v does not wrap the server's error", err)
		}
	}
}

// An error stays as it is if its cause is not known to be a right of the role.
func TestNameRightLeavesOthers(t *testing.T) {
	t.Parallel()
	for why, e := range map[string]pgconn.PgError{
		"another error":          {Code: "42P01", Message: "permission denied for table orders", Routine: "aclcheck_error"},
		"raised by a function":   {Code: "42501", Message: "permission denied for table orders", Routine: "exec_stmt_raise"},
		"in a function":          {Code: "42501", Message: "permission denied for table orders", Routine: "aclcheck_error", Where: "PL/pgSQL function f() line 3"},
		"row security":           {Code: "42501", Message: `new row violates row-level security policy for table "orders"`, Routine: "ExecWithCheckOptions"},
		"a name that is no word": {Code: "42501", Message: "permission denied for table my secret; x", Routine: "aclcheck_error"},
	} {
		if err := NameRight(&e, "shop", `UPDATE orders SET a = 1`); err != error(&e) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// The advice on a service that lacks a right is the GRANT.
func TestAdviceOnALackingRight(t *testing.T) {
	t.Parallel()
	err := NameRight(&pgconn.PgError{Code: "42501", Message: "permission denied for table orders", Routine: "aclcheck_error"}, "shop", `DELETE FROM orders`)
	if do := ReasonOf(fmt.Errorf("events: %w", err)).Do; !strings.HasPrefix(do, `GRANT DELETE ON orders TO "shop"`) {
		t.Errorf("got %q", do)
	}
}
