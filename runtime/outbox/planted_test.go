package outbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

const planted = `
CREATE TABLE called (what text);
CREATE FUNCTION note(text) RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES ($1)';
CREATE FUNCTION cat(text, integer) RETURNS text LANGUAGE sql AS 'SELECT note(''operator ||''); SELECT $1';
CREATE OPERATOR || (LEFTARG = text, RIGHTARG = integer, FUNCTION = cat);
CREATE FUNCTION concat_ws(text, text, text, text, text) RETURNS text LANGUAGE sql AS 'SELECT note(''concat_ws''); SELECT $1';
CREATE FUNCTION unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT note(''unnest''); SELECT $1[1]'`

// A relay that runs calls nothing that somebody planted after its start.
func TestRelayCallsNothingPlanted(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	relay(t, db, to, nil)
	write(t, db, "1", "a")
	until(t, "it is sent", func() bool { return left(t, db) == "0" })
	idemtest.Exec(t, db, planted)
	write(t, db, "1", "b")
	until(t, "the next one is sent", func() bool { return left(t, db) == "0" })
	if got := query(t, db, `SELECT coalesce(string_agg(DISTINCT what, ', '), '') FROM called`); got != "" {
		t.Errorf("called: %s", got)
	}
}

// A relay leads on no connection that is opened when something is planted, and Health says so.
func TestRelayLooksForPlantedObjects(t *testing.T) {
	t.Parallel()
	db, to := table(t, outbox.ByRelay), &log{}
	idemtest.Exec(t, db, planted)
	write(t, db, "1", "a")
	r, _ := relay(t, db, to, func(r *outbox.Relay) { r.SetPace(20*time.Millisecond, 10*time.Second) })
	until(t, "Health says so", func() bool {
		err := r.Health()
		return err != nil && strings.Contains(err.Error(), "is found by search_path")
	})
	if got := query(t, db, `SELECT coalesce(string_agg(DISTINCT what, ', '), '') FROM called`); got != "" || left(t, db) != "1" {
		t.Errorf("called: %s; left: %s", got, left(t, db))
	}
	idemtest.Exec(t, db, `DROP FUNCTION cat, concat_ws(text, text, text, text, text), unnest(text[]) CASCADE`)
	until(t, "it is sent", func() bool { return left(t, db) == "0" && r.Health() == nil })
}
