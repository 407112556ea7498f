package idem_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// grants are the statements of docs/operations.md, "Roles and rights", in its order: those
// that make the roles, and those that come after the migrations.
func grants(t *testing.T) (roles, rights string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Roles and rights\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of SQL, want 2", len(blocks))
	}
	return blocks[0][1], blocks[1][1]
}

// realm is a database in which each role has the rights that the page grants, and no more.
type realm struct{ admin, service, operator *pgxpool.Pool }

func newRealm(t *testing.T, schema string) realm {
	t.Helper()
	db := idemtest.DB(t)
	prefix := db.Config().ConnConfig.Database + "_" // roles are the server's
	names := strings.NewReplacer("shop_", prefix, "SCHEMA public", "SCHEMA "+schema, "orders, order_items, payments", "t")
	roles, rights := grants(t)
	t.Cleanup(func() {
		for _, role := range []string{"operator", "service", "owner"} {
			if _, err := db.Exec(context.Background(), `DROP OWNED BY `+prefix+role+` CASCADE; DROP ROLE `+prefix+role); err != nil {
				t.Error(err)
			}
		}
	})
	idemtest.Exec(t, db, `CREATE SCHEMA IF NOT EXISTS `+schema+`;`+names.Replace(roles))
	as := func(role string) *pgxpool.Pool {
		cfg := db.Config()
		if password := cfg.ConnConfig.Password; password != "" {
			idemtest.Exec(t, db, `ALTER ROLE `+prefix+role+` PASSWORD '`+password+`'`)
		}
		cfg.ConnConfig.User = prefix + role
		cfg.ConnConfig.RuntimeParams["search_path"] = schema
		pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		return pool
	}
	idemtest.Exec(t, db, `ALTER DATABASE "`+db.Config().ConnConfig.Database+`" SET search_path = `+schema)
	db.Reset()
	owner := as("owner")
	rig.Migrate(t, owner)
	migrateAgain(t, owner)
	idemtest.Exec(t, owner, names.Replace(rights))
	return realm{db, as("service"), as("operator")}
}

// migrateAgain applies the runtime's migrations a second time, which changes nothing.
func migrateAgain(t *testing.T, owner *pgxpool.Pool) {
	t.Helper()
	const functions = `SELECT string_agg(proname || proconfig::text || prosecdef || proacl::text, ' ' ORDER BY proname) FROM pg_proc WHERE proname LIKE 'idem\_%'`
	before := rig.Query(t, owner, functions)
	rig.RuntimeTables(t, owner)
	rig.Want(t, "functions after a second time", rig.Query(t, owner, functions), before)
}

// The service and the commands do all that they do with the rights that the page grants.
func TestDocumentedRightsAreEnough(t *testing.T) {
	rig.Lengthy(t)
	for _, schema := range []string{"public", "shop"} {
		t.Run(schema, func(t *testing.T) {
			r := newRealm(t, schema)
			log, option := rig.Logged()
			handled := 0
			c := rig.Service{
				Edit: rig.KeysAndBriefLocks, Options: []idem.Option{option},
				Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
					handled++
					_, err := tx.Exec(ctx, `UPDATE t SET v = v + 1 WHERE id = $1`, row)
					return err
				},
			}.Consumer(t, r.service)
			w := rig.Own(t, c)
			rig.Want(t, "result", rig.Apply(t, w, rig.Records(0, "a: put 1 1", "@h: put 2 2", "call 1", "nonsense x", "add 1 1", "need 9 9", "a: put 1 1")),
				idem.Result{Applied: 3, Duplicates: 1, Dead: 3})
			rig.Want(t, "handled", handled > 0, true)
			letters, _, err := operate.Meant(t.Context(), r.operator, operate.Selection{Consumer: "test", Topic: rig.Topic, Class: "decode"}, "discard")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := operate.Ask(t.Context(), r.operator, letters[:1], "discard", nil, operate.By{Operator: "ann", Reason: "a test"}); err != nil {
				t.Error(err)
			}
			letters, _, err = operate.Meant(t.Context(), r.operator, operate.Selection{Consumer: "test", Topic: rig.Topic, Class: "database"}, "discard")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := operate.Ask(t.Context(), r.operator, letters[:1], "replay", []byte("1"), operate.By{Operator: "ann", Reason: "a test"}); err != nil {
				t.Error(err)
			}
			rig.Apply(t, w, nil)
			rig.Want(t, "letters", rig.LettersNow(t, r.admin), "3 x discarded, 4 d its event has no effect, so it does not accept a result, 5 d")
			idemtest.Exec(t, r.admin, `UPDATE idem_dead_letter SET order_key = $1::uuid WHERE offs = 3`, record.OrderKey([]byte("a person")))
			if erased, err := operate.Erase(t.Context(), r.operator, "test", rig.Topic, "a person", operate.By{Operator: "ann", Reason: "a test"}); err != nil || len(erased) != 1 {
				t.Errorf("erased %d letters: %v", len(erased), err)
			}
			r.generations(t, c, w, log)
			r.upkeep(t, c)
			r.commands(t, c)
			r.owners(t, c)
			r.slow(t)
			rig.Want(t, "tables that the service owns", rig.Query(t, r.admin, `SELECT count(*)::text FROM pg_class WHERE relowner = $1::text::regrole`, r.service.Config().ConnConfig.User), "0")
			if strings.Contains(log.String(), "42501") || strings.Contains(log.String(), "permission denied") {
				t.Errorf("a right was missed: %s", log)
			}
		})
	}
}

// A right that is needed later only is missed at the start.
func TestMissingRightsShowAtTheStart(t *testing.T) {
	t.Parallel()
	r := newRealm(t, "public")
	role := r.service.Config().ConnConfig.User
	for lacks, says := range map[string]string{
		"UPDATE ON idem_lease":          `may not UPDATE idem_lease: GRANT UPDATE ON idem_lease TO "` + role + `"`,
		"INSERT ON idem_dead_letter":    `may not INSERT idem_dead_letter`,
		"USAGE ON SEQUENCE idem_fence":  `may not USAGE idem_fence: GRANT USAGE ON SEQUENCE idem_fence TO "` + role + `"`,
		"SELECT, DELETE ON idem_ledger": `may not SELECT, DELETE idem_ledger`,
		"SELECT, INSERT ON idem_stream": `may not SELECT, INSERT idem_stream`,
		"SELECT ON TABLE idem_schema":   `may not SELECT idem_schema`,
	} {
		idemtest.Exec(t, r.admin, `REVOKE `+lacks+` FROM "`+role+`"`)
		_, err := rig.Service{}.Consumer(t, r.service).Own(t.Context(), rig.Topic, 0, 0)
		rig.WantText(t, err, says)
		idemtest.Exec(t, r.admin, `GRANT `+lacks+` TO "`+role+`"`)
	}
	rig.Own(t, rig.Service{}.Consumer(t, r.service))
}

// grantPrinted is a GRANT in a reason.
var grantPrinted = regexp.MustCompile(`GRANT .* TO "\w+"`)

// The reason of a partition that halted because its role lacks a right has the GRANT after which
// it continues, wherever the statement came from.
func TestHaltNamesTheRightThatIsMissing(t *testing.T) {
	t.Parallel()
	r := newRealm(t, "public")
	role := r.service.Config().ConnConfig.User
	const update = `UPDATE t SET v = v + 1 WHERE id = $1`
	handlers := map[string]func(context.Context, idem.Tx, int32) error{
		"exec": func(ctx context.Context, tx idem.Tx, row int32) error {
			_, err := tx.Exec(ctx, update, row)
			return err
		},
		"queue": func(_ context.Context, tx idem.Tx, row int32) error { tx.Queue(update, row); return nil },
		"callback": func(_ context.Context, tx idem.Tx, row int32) error {
			tx.Queue(update, row).Exec(func(pgconn.CommandTag) error { return nil })
			return nil
		},
		"copy": func(ctx context.Context, tx idem.Tx, row int32) error {
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v"}, pgx.CopyFromRows([][]any{{row + 100, 1}}))
			return err
		},
		"row": func(ctx context.Context, tx idem.Tx, row int32) error {
			return tx.QueryRow(ctx, update+` RETURNING v`, row).Scan(&row)
		},
	}
	for _, c := range []struct{ revoke, record, handler, says string }{
		{"INSERT ON t", "put 1 1", "exec", "lacks a right on table t: GRANT SELECT, INSERT, UPDATE ON t"},
		{"INSERT ON idem_ledger", "put 1 1", "exec", "lacks a right on table idem_ledger: GRANT SELECT, INSERT"},
		{"UPDATE ON t", "call 1", "exec", "unrelated to any record: role " + role + " lacks a right on table t: GRANT SELECT, UPDATE ON t"},
		{"UPDATE ON t", "call 1", "queue", "GRANT SELECT, UPDATE ON t"},
		{"UPDATE ON t", "call 1", "callback", "GRANT SELECT, UPDATE ON t"},
		{"UPDATE ON t", "call 1", "row", "GRANT SELECT, UPDATE ON t"},
		{"INSERT ON t", "call 1", "copy", `GRANT INSERT ON "t"`},
	} {
		t.Run(c.revoke+" "+c.handler, func(t *testing.T) {
			w := rig.Own(t, rig.Service{Handle: handlers[c.handler]}.Consumer(t, r.service))
			idemtest.Exec(t, r.admin, `REVOKE `+c.revoke+` FROM "`+role+`"`)
			_, err := w.Apply(t.Context(), rig.Records(w.Next(), c.record))
			halted := rig.WantError[*idem.HaltedError](t, err)
			rig.Want(t, "code", halted.Code, halt.Database)
			rig.WantText(t, err, c.says)
			idemtest.Exec(t, r.admin, grantPrinted.FindString(halted.Error()))
			w = rig.Own(t, rig.Service{Handle: handlers[c.handler]}.Consumer(t, r.service))
			rig.Apply(t, w, rig.Records(w.Next(), c.record))
		})
	}
}

// slow handlers have their transaction take back what it leaves to the next one.
func (r realm) slow(t *testing.T) {
	t.Helper()
	var calls rig.SlowCalls
	c := calls.Service(rig.KeysAndBriefLocks).Consumer(t, r.service)
	w := rig.Own(t, c)
	rig.Want(t, "result", rig.Apply(t, w, rig.Records(w.Next(), "x: call 8", "@y: call 18", "z: put 28 0")), idem.Result{Applied: 3})
	rig.Want(t, "transactions", c.Stats().Batches, 2)
}

// generations come and go while keys are claimed.
func (r realm) generations(t *testing.T, c *rig.Consumer, w *rig.Writer, log *transcript.Buffer) {
	t.Helper()
	for n := range 6 {
		key := string(rune('b' + n))
		rig.Apply(t, w, rig.Records(w.Next(), key+": put 3 3"))
		rig.Want(t, "a copy", rig.Apply(t, w, rig.Records(w.Next(), key+": put 3 3")), idem.Result{Duplicates: 1})
		const open = `SELECT token::text FROM idem_key_gen WHERE sealed_at IS NULL`
		token := rig.Query(t, r.admin, open)
		r.again(t, c, `UPDATE idem_key_gen SET opened_at = opened_at - interval '31 minutes', sealed_at = sealed_at - interval '31 minutes'`,
			`SELECT (token <> '`+token+`')::text FROM idem_key_gen WHERE sealed_at IS NULL`, "true")
	}
	rig.Await(t, log, "generation of keys sealed", 6)
	rig.Await(t, log, "generations of keys dropped", 3)
	rig.Await(t, log, "filter of sealed keys built", 1)
}

// upkeep trims the ledger, and closes and removes dead letters.
func (r realm) upkeep(t *testing.T, c *rig.Consumer) {
	t.Helper()
	r.again(t, c, `UPDATE idem_ledger SET written_at = written_at - interval '1 day'`, `SELECT (min(seq) > 0)::text FROM idem_ledger`, "true")
	const letters = `SELECT coalesce(string_agg(DISTINCT state::text, ' '), '') FROM idem_dead_letter`
	r.again(t, c, `UPDATE idem_dead_letter SET created_at = created_at - interval '1 day', expires_at = clock_timestamp() - interval '1 hour'`, letters, "x")
	r.again(t, c, `UPDATE idem_dead_letter SET expires_at = clock_timestamp() - interval '1 hour'`, letters, "")
}

// again runs the upkeep after a change until it shows: it does nothing while the connection
// of an earlier run is still on its way out.
func (r realm) again(t *testing.T, c *rig.Consumer, sql, state, wanted string) {
	t.Helper()
	idemtest.Exec(t, r.admin, sql)
	for end := time.Now().Add(time.Minute); rig.Query(t, r.admin, state) != wanted; time.Sleep(5 * time.Millisecond) {
		if err := c.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %s, want %s", state, rig.Query(t, r.admin, state), wanted)
		}
	}
}

// commands are the operator's, all of them.
func (r realm) commands(t *testing.T, c *rig.Consumer) {
	t.Helper()
	ctx, by := t.Context(), operate.By{Operator: "ann", Reason: "a test"}
	all, err := operate.List(ctx, r.operator, "test")
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	name := all[0].Name
	w := rig.Own(t, c)
	at := w.Next()
	other := name
	other.TopicID = "00000000-0000-4000-8000-000000000009"
	for _, do := range []struct {
		verb string
		run  func() (operate.Change, error)
	}{
		{"release", func() (operate.Change, error) { return operate.Release(ctx, r.operator, name, operate.Leave{}, by) }},
		{"skip", func() (operate.Change, error) {
			return operate.Set(ctx, r.operator, name, operate.Target{From: halt.Anywhere, To: at + 2}, by)
		}},
		{"rewind", func() (operate.Change, error) {
			return operate.Set(ctx, r.operator, name, operate.Target{From: halt.Anywhere, To: at + 1, ApplyAgain: true}, by)
		}},
		{"confirm", func() (operate.Change, error) {
			return operate.Release(ctx, r.operator, name, operate.Leave{Partitions: 12}, by)
		}},
	} {
		if _, err := do.run(); err != nil {
			t.Errorf("%s: %v", do.verb, err)
		}
	}
	_, err = w.Apply(ctx, rig.Records(at, "put 5 5"))
	rig.WantError[*idem.FencedError](t, err)
	rig.Want(t, "position", rig.Own(t, c).Next(), at+1)
	if _, err := operate.Set(ctx, r.operator, other, operate.Target{From: halt.NoLedger, To: 1, Partitions: 12}, by); err != nil {
		t.Errorf("adopt: %v", err)
	}
	idemtest.Exec(t, r.admin, `DELETE FROM idem_ledger WHERE stream = (SELECT stream FROM idem_stream WHERE topic_id = '`+other.TopicID+`')`)
	if _, err := operate.Set(ctx, r.operator, other, operate.Target{From: halt.NoLedger, To: 1, Partitions: 12}, by); err != nil {
		t.Errorf("adopt again: %v", err)
	}
}

// owners follow each other, also after a client that stopped.
func (r realm) owners(t *testing.T, c *rig.Consumer) {
	t.Helper()
	former := rig.Own(t, c)
	w := rig.Own(t, rig.Service{Edit: rig.KeysAndBriefLocks}.Consumer(t, r.service))
	_, err := former.Apply(t.Context(), rig.Records(former.Next(), "put 6 6"))
	rig.WantError[*idem.FencedError](t, err)
	rig.Apply(t, w, rig.Records(w.Next(), "put 6 6"))
	rig.Stalled(t, r.service, "idemgen", "ClientRead", `SELECT 1`)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	heir, err := rig.Service{Edit: rig.KeysAndBriefLocks}.Consumer(t, r.service).Own(ctx, rig.Topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rig.Apply(t, heir, rig.Records(heir.Next(), "put 7 7"))
}
