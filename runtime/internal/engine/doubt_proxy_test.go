package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// The moments at which a connection is cut.
func replyIsLost(sent []byte) cutproxy.Rule {
	return cutproxy.Rule{Direction: cutproxy.Down, Armed: sent}
}

func doesNotArrive(sent []byte) cutproxy.Rule {
	return cutproxy.Rule{Direction: cutproxy.Up, Match: sent}
}

func arrivesLast(sent []byte) cutproxy.Rule {
	return cutproxy.Rule{Direction: cutproxy.Up, Match: sent, Do: cutproxy.Last}
}

var (
	appended = []byte("_append\x00")
	commit   = []byte("COMMIT")
)

// Whatever becomes of a connection, and whenever: the batch takes effect once, and is
// counted once. Bug: what is in doubt is read and, if it is not there yet,
// taken as rolled back.
func TestDoubtIsSettledByAppendingAgain(t *testing.T) {
	rig.Lengthy(t)
	for name, test := range map[string]struct {
		cut   cutproxy.Rule
		batch []string
		calls int64
		setup string
	}{
		"the reply is lost":                              {cut: replyIsLost(appended), batch: []string{"put 1 1", "put 2 2"}},
		"the server still works at it":                   {cut: arrivesLast(appended), batch: []string{"put 1 1", "put 2 2"}, setup: slowly},
		"the reply to COMMIT is lost":                    {cut: replyIsLost(commit), batch: []string{"put 1 1", "call 2"}, calls: 1},
		"COMMIT does not arrive, and handlers run again": {cut: doesNotArrive(commit), batch: []string{"put 1 1", "call 2"}, calls: 2},
		"the reply to all that is queued is lost":        {cut: replyIsLost(commit), batch: []string{"call 1", "call -2"}, calls: 2},
		"what is queued does not arrive":                 {cut: doesNotArrive(commit), batch: []string{"put 1 1", "call -2"}, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			if test.setup != "" {
				idemtest.Exec(t, db, test.setup)
			}
			proxy, through := cutproxy.Pool(t, db)
			var calls atomic.Int64
			c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls.Add(1)
				if row < 0 {
					tx.Queue(`INSERT INTO t VALUES ($1, $1)`, -row)
					return nil
				}
				_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, $1)`, row)
				return err
			}}.Consumer(t, through)
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "call -9")) // its text is prepared on its first use
			calls.Store(0)
			cut := proxy.Once(test.cut)
			rig.Deliver(t, sink, rig.Records(1, test.batch...))
			<-cut
			rig.Deliver(t, sink, rig.Records(3, "put 3 3"))
			rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3 9=9")
			rig.Want(t, "calls", calls.Load(), test.calls)
			rig.Want(t, "applied", c.Stats().Applied, 4)
			rig.Want(t, "chain", rig.Query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), "0-0g 0-0f 0-1b 1-3b 3-4b")
		})
	}
}

// slowly makes writes to t so slow that a lost transaction is still under way when it is
// sent again.
const slowly = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()`
