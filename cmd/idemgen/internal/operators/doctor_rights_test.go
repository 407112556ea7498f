package operators

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// serviceRole makes a role with the rights of the shop and of a relay, as which doctor runs from
// now on.
func serviceRole(t *testing.T, db *pgxpool.Pool) (role string) {
	t.Helper()
	role = db.Config().ConnConfig.Database + "_service"
	idemtest.Exec(t, db, `CREATE ROLE `+role+`; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role+`; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO `+role)
	t.Cleanup(func() { _, _ = db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role) })
	t.Setenv("PGOPTIONS", "-c role="+role)
	return role
}

// Doctor, run as the service's role, warns of rights that handlers and relays may need and prints
// the GRANT. What steps need is a failure.
func TestDoctorNamesMissingRights(t *testing.T) {
	db := shop(t)
	t.Setenv("KAFKA_BROKERS", "")
	idemtest.Exec(t, db, outbox.Migration(outbox.ByRelay))
	role := serviceRole(t, db)
	lines := func(state string) []string {
		return slices.DeleteFunc(checked(t, state), func(l string) bool { return !strings.HasPrefix(l, "tables: ") && !strings.HasPrefix(l, "outbox: ") })
	}
	wantLines(t, lines("ok"), "tables: 3 tables in the database as in the spec", "outbox: all events are sent, and no relay leads")
	wantLines(t, lines("warn"))
	idemtest.Exec(t, db, `REVOKE DELETE ON payments, idem_outbox FROM `+role+`; REVOKE UPDATE ON payments FROM `+role)
	wantLines(t, lines("ok"), "tables: 3 tables in the database as in the spec")
	wantLines(t, lines("warn"), "tables: role "+role+" may not UPDATE, DELETE payments, and a handler might",
		"outbox: role "+role+" may not DELETE idem_outbox, and a relay must")
	_, text, _ := run(t, "doctor", "../../../../examples/orders")
	for _, grant := range []string{`GRANT UPDATE, DELETE ON payments TO "` + role + `"`, `GRANT DELETE ON idem_outbox TO "` + role + `"`} {
		if !strings.Contains(text, grant) {
			t.Errorf("%s is not printed:\n%s", grant, text)
		}
	}
	idemtest.Exec(t, db, `REVOKE INSERT ON orders FROM `+role)
	wantLines(t, lines("FAIL"), "tables: role "+role+" may not INSERT orders")
}
