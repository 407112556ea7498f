package session_test

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A trigger or a function that changes a setting of the session, for its transaction or for
// longer, leads no row of a later event elsewhere: the settings are restored.
func TestTriggerThatChangesSettingsMovesNoRow(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"for the transaction":    `PERFORM set_config('search_path', 'other', true)`,
		"for the session":        `PERFORM set_config('search_path', 'other', false)`,
		"to where no tables are": `PERFORM set_config('search_path', 'nowhere', false)`,
		"the role":               `SET ROLE pg_monitor`,
		"the time zone":          `SET TimeZone = 'Asia/Tokyo'`,
		"row security":           `SET LOCAL row_security = off`,
		"at commit":              ``,
		"at commit, to nowhere":  ``,
		"at commit, of a table that a trigger writes": `INSERT INTO later VALUES (1)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			idemtest.Exec(t, db, `CREATE SCHEMA nowhere; CREATE SCHEMA other`)
			idemtest.Exec(t, db, `CREATE TABLE other.t (LIKE t INCLUDING ALL)`)
			for _, table := range []string{"idem_dead_letter", "idem_ledger", "idem_assert", "idem_step_refused", "idem_keys"} {
				idemtest.Exec(t, db, `CREATE TABLE other.`+table+` (LIKE `+table+` INCLUDING ALL)`)
			}
			idemtest.Exec(t, db, `CREATE FUNCTION move(text) RETURNS void LANGUAGE sql AS $$ SELECT set_config('search_path', $1, false) $$`)
			if to := map[string]string{"at commit": "other", "at commit, to nowhere": "nowhere"}[name]; to != "" {
				idemtest.Exec(t, db, `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
PERFORM set_config('search_path', '`+to+`', false); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION judge()`)
			} else {
				idemtest.Exec(t, db, `CREATE TABLE later (n int);
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('search_path', 'nowhere', false); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION later()`)
				rig.Trigger(t, db, body)
			}
			c := rig.Service{Policy: rig.Impatient, Edit: func(s *wire.Service) {
				s.Tables, s.Topics[0].Writes = []wire.Table{{Name: "t"}}, []string{"t"}
			}, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				if row == 9 {
					_, err := tx.Exec(ctx, `SELECT public.move('other')`)
					return err
				}
				return rig.AddOne(ctx, tx, row)
			}}.Consumer(t, db)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "put 8 8", "nonsense")) // whose dead letter is written after the row
			rig.Deliver(t, sink, rig.Records(2, "k: put 1 1", "put 2 2", "add 3 3"))
			rig.Deliver(t, sink, rig.Records(5, "call 1", "put 4 4", "call 2", "call 9", "add 5 5", "put 6 x", "nonsense"))
			rig.Deliver(t, sink, rig.Records(12, "call 4", "put 1 7"))
			rig.Want(t, "rows", rig.Table(t, db), "1=7 2=3 3=3 4=5 5=5 6=0 8=8")
			rig.Want(t, "dead letters", rig.Letters(t, db), "1 decode, 11 decode")
			for _, table := range []string{"t", "idem_dead_letter", "idem_ledger"} {
				rig.Want(t, "rows elsewhere in "+table, rig.Query(t, db, `SELECT count(*)::text FROM other.`+table), "0")
			}
		})
	}
}
