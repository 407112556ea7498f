package engine_test

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// An append in doubt is sent again with all that belongs to it: statements, handlers and claims of
// keys; alone at first, if it waits for its predecessor's lock. If the predecessor has committed,
// nothing takes effect twice.
func TestAppendInDoubtIsSentWithAllThatBelongsToIt(t *testing.T) {
	t.Parallel()
	const slow = `IF nextval('n') = 1 THEN PERFORM pg_sleep(0.6); END IF`
	// The retry may arrive first, so the error must not be the record's fault.
	const fails = `IF nextval('n') = 1 THEN PERFORM pg_sleep(0.6); RAISE 'disk full' USING ERRCODE = '53100'; END IF`
	for name, test := range map[string]struct {
		cut     cutproxy.Rule
		batch   string
		calls   int
		trigger string // of the first INSERT
	}{
		"it did not arrive":                   {doesNotArrive(appended), "a: put 1 1", 0, ""},
		"its reply is lost":                   {replyIsLost(appended), "a: put 1 1", 0, ""},
		"it did not arrive, with a handler":   {doesNotArrive(appended), "a: call 1", 2, ""},
		"COMMIT did not arrive":               {doesNotArrive(commit), "a: call 1", 2, ""},
		"the reply to COMMIT was lost":        {replyIsLost(commit), "a: call 1", 1, ""},
		"it commits late":                     {arrivesLast(appended), "a: put 1 1", 0, slow},
		"it is rolled back late":              {arrivesLast(appended), "a: put 1 1", 0, fails},
		"it is rolled back late, in a caller": {arrivesLast([]byte("INSERT INTO t")), "a: call 1", 2, slow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := rig.Database(t)
			if test.trigger != "" {
				idemtest.Exec(t, db, `CREATE SEQUENCE n`)
				rig.Trigger(t, db, test.trigger)
			}
			proxy, through := cutproxy.Pool(t, db)
			calls := 0
			c := rig.Service{Edit: rig.BriefLocks, Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls++
				_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, $1)`, row)
				return err
			}}.Consumer(t, through)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			cut := proxy.Once(test.cut)
			rig.Deliver(t, sink, rig.Records(0, test.batch))
			<-cut
			rig.Want(t, "calls", calls, test.calls)
			rig.Deliver(t, sink, rig.Records(1, "a: put 1 1", "b: put 2 2")) // the first is a duplicate, or a conflict
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2")
			rig.Want(t, "keys", rig.Query(t, db, `SELECT string_agg(seq::text, ' ' ORDER BY seq) FROM idem_keys`), "2 3")
			rig.Want(t, "chain", rig.Query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), "0-0g 0-0f 0-1b 1-3b")
			rig.Want(t, "applied", c.Stats().Applied, 2)
		})
	}
}

// Calls may leave savepoints one after another. One that rolls back to an earlier call's is at
// fault, however many other calls are between them, and nothing of the batch commits.
func TestCallsLeaveSavepointsBehind(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		do := []string{`INSERT INTO t VALUES (` + string(rune('0'+row)) + `, 1)`}
		switch row {
		case 1, 2:
			do = append(do, `SAVEPOINT s`+string(rune('0'+row)))
		case 4:
			do = append(do, `ROLLBACK TO s1`)
		}
		for _, sql := range do {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}}.Consumer(t, db))
	rig.Apply(t, w, rig.Records(0, "call 1", "call 2", "call 3"))
	rig.Want(t, "rows", rig.Table(t, db), "1=1 2=1 3=1")
	idemtest.Exec(t, db, `DELETE FROM t`)
	_, err := w.Apply(t.Context(), rig.Records(3, "call 1", "call 2", "put 3 3", "call 4"))
	h := rig.WantError[*idem.HaltedError](t, err)
	rig.Want(t, "offset", h.Offset, 6)
	rig.WantText(t, err, "rolled back to a savepoint that an earlier call had left, or released it")
	rig.Want(t, "rows", rig.Table(t, db), "")
}
