package outbox_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// A relay reports what holds back its events, where operators see it, and takes the report back
// when it ends. Without the table of reports it works as well.
func TestARelayReportsItself(t *testing.T) {
	t.Parallel()
	db, broker := table(t, outbox.ByRelay), &log{}
	idemtest.Migrate(t, db, filepath.Join("..", "..", "templates", "sql"))
	broker.answers(func(outbox.Record) error { return &outbox.RefusedError{Err: errors.New("the topic does not exist")} })
	write(t, db, "a", "1")
	_, end := relay(t, db, broker, nil)
	said := func(sql string) string {
		var text string
		if err := db.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	until(t, "the report names the rejection", func() bool {
		return said(`SELECT coalesce(string_agg(concat(report #>> '{relay,leads}', ' ', p ->> 'code', ' ', position('the topic does not exist' IN p ->> 'reason') > 0, ' ', (p ->> 'since')::timestamptz > now() - interval '1 minute'), ','), '')
			FROM idem_process, jsonb_array_elements(report -> 'problems') p WHERE consumer = ''`) == "true refused t t"
	})
	broker.answers(nil)
	until(t, "and then that all is sent", func() bool {
		return said(`SELECT coalesce(max(concat(report #>> '{relay,sent}', ' ', report ->> 'problems')), '') FROM idem_process`) == "1 []"
	})
	end()
	if n := said(`SELECT count(*)::text FROM idem_process`); n != "0" {
		t.Errorf("%s reports after the end", n)
	}
}
