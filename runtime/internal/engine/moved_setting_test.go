package engine_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A setting that a session kept from an earlier transaction is no fault of a record: it is named
// in the place of the error that it caused, and the records are applied at once.
func TestSettingOfAnEarlierTransactionIsNamed(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE SCHEMA nowhere; CREATE TABLE later (n int);
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('search_path', 'nowhere', false); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER judge AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION later()`)
	rig.Trigger(t, db, `IF NEW.id < 9 THEN INSERT INTO later VALUES (1); END IF`) // idemgen does not know the table
	log, option := rig.Logged()
	c := rig.Service{Options: []idem.Option{option}, Policy: wire.FailurePolicy{Stop: true}, Edit: func(s *wire.Service) {
		s.Tables, s.Topics[0].Writes = []wire.Table{{Name: "t"}}, []string{"t"}
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	rig.Want(t, "the first", rig.Apply(t, w, rig.Records(0, "put 1 1")), idem.Result{Applied: 1})
	rig.Want(t, "the others", rig.Apply(t, w, rig.Records(1, "put 11 2", "put 12 3")), idem.Result{Applied: 2})
	rig.Want(t, "rows", rig.Table(t, db), "1=1 11=2 12=3")
	if text := log.String(); strings.Count(text, "changes a setting of the session") != 1 || !strings.Contains(text, "search_path") {
		t.Errorf("the log says:\n%s", text)
	}
}
