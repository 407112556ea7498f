package operators

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// Commands run no statement on a connection on which it would call what somebody planted, and
// doctor says what it is.
func TestCommandsCallNothingPlanted(t *testing.T) {
	db := ledgers(t)
	idemtest.Exec(t, db, `
CREATE TABLE called (what text);
CREATE FUNCTION note(text) RETURNS int LANGUAGE sql AS 'INSERT INTO called VALUES ($1) RETURNING 1';
CREATE FUNCTION unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT note(''unnest''); SELECT $1[1]'`)
	for _, args := range [][]string{{"stream", "list", "--consumer", "shop"}, {"dead", "list", "--consumer", "shop"}} {
		if code, out, stderr := run(t, args...); code == 0 || !strings.Contains(stderr, "function unnest(text[]) is found by search_path") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, out, stderr)
		}
	}
	failed := checked(t, "FAIL")
	if len(failed) == 0 || !strings.HasPrefix(failed[0], "planted: function unnest(text[]) is found by search_path") {
		t.Errorf("doctor: %q", failed)
	}
	var called string
	if err := db.QueryRow(t.Context(), `SELECT coalesce(pg_catalog.string_agg(what, ', '), '') FROM called`).Scan(&called); err != nil || called != "" {
		t.Errorf("called: %q, %v", called, err)
	}
}
