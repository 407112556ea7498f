package idem_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// asTenant shows each handler the rows of its record's tenant, and no others.
func asTenant(next idem.HandlerFunc) idem.HandlerFunc {
	return func(ctx context.Context, tx idem.Tx) error {
		d, _ := idem.DeliveryFrom(ctx)
		tenant, err := d.Message.Header("tenant")
		if err != nil {
			return idem.Permanent(err)
		}
		tx.Queue(`SELECT set_config('app.tenant', $1, true)`, string(tenant))
		return next(ctx, tx)
	}
}

// recipe is docs/patterns.md, "Row security by tenant": its SQL for table t, and its Go code.
func recipe(t *testing.T) (sql, code string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/patterns.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Row security by tenant\n")
	block := func(language string) string {
		_, text, found := strings.Cut(section, "```"+language+"\n")
		if text, _, _ = strings.Cut(text, "```"); !found {
			t.Fatalf("the page has no block of %s", language)
		}
		return text
	}
	return strings.ReplaceAll(block("sql"), " orders ", " t "), block("go")
}

// ofTenants makes records from tenants and texts, each with a key of its own. A tenant of "" means
// no header.
func ofTenants(from int64, texts ...[2]string) []idem.Message {
	var list []string
	for i, text := range texts {
		list = append(list, string(rune('a'+from))+string(rune('a'+i))+": "+text[1])
	}
	all := rig.Records(from, list...)
	for i, text := range texts {
		if text[0] != "" {
			all[i].Headers = append(all[i].Headers, idem.Header{Name: "tenant", Value: []byte(text[0])})
		}
	}
	return all
}

// rowsOfTenants is a service in a database with the policy of the page. Its handler changes all
// rows that it sees, and adds one of the tenant that it is told; the record's own if that is "".
func rowsOfTenants(t *testing.T, tell func(row int32) string) (admin *pgxpool.Pool, w *rig.Writer) {
	t.Helper()
	r := newRealm(t, "public")
	sql, code := recipe(t)
	here, err := os.ReadFile("row_security_test.go")
	if err != nil || !strings.Contains(string(here), "\n"+code) {
		t.Errorf("%v: docs/patterns.md has another text of asTenant than this file", err)
	}
	idemtest.Exec(t, r.admin, `ALTER TABLE t ADD COLUMN tenant text;`+sql)
	return r.admin, rig.Own(t, rig.Service{
		Options: []idem.Option{idem.WithMiddleware(asTenant)},
		Handle: func(_ context.Context, tx idem.Tx, row int32) error {
			tx.Queue(`UPDATE t SET v = v + 1`)
			tx.Queue(`INSERT INTO t (id, v, tenant) VALUES ($1, 0, coalesce(nullif($2, ''), current_setting('app.tenant')))`, row, tell(row))
			return nil
		},
	}.Consumer(t, r.service))
}

const rowsWithTenants = `SELECT string_agg(concat_ws(' ', tenant, id, v), ', ' ORDER BY id) FROM t`

// Each handler of a batch sees and changes the rows of its own tenant, whatever the one before it
// set. A record without a tenant is a dead letter.
func TestRowSecurityByTenant(t *testing.T) {
	t.Parallel()
	admin, w := rowsOfTenants(t, func(int32) string { return "" })
	got := rig.Apply(t, w, ofTenants(0, [2]string{"ann", "call 1"}, [2]string{"bob", "call 2"}, [2]string{"ann", "call 3"}, [2]string{"", "call 4"}, [2]string{"bob", "call 5"}))
	rig.Want(t, "result", got, idem.Result{Applied: 4, Dead: 1})
	rig.Want(t, "rows", rig.Query(t, admin, rowsWithTenants), "ann 1 1, bob 2 1, ann 3 0, bob 5 0")
	rig.Want(t, "dead letters", rig.Letters(t, admin), "3 handler")
}

// A row of another tenant halts the partition, and nothing of its record is left.
func TestRowOfAnotherTenantHalts(t *testing.T) {
	t.Parallel()
	admin, w := rowsOfTenants(t, func(row int32) string { return map[int32]string{2: "bob"}[row] })
	rig.Apply(t, w, ofTenants(0, [2]string{"ann", "call 1"}))
	_, err := w.Apply(t.Context(), ofTenants(1, [2]string{"ann", "call 2"}))
	rig.Want(t, "code", rig.WantError[*idem.HaltedError](t, err).Code, halt.Database)
	rig.WantText(t, err, "row-level security")
	rig.Want(t, "rows", rig.Query(t, admin, rowsWithTenants), "ann 1 0")
}
