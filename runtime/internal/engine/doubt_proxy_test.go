package engine_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// line cuts the connections of a pool at the moment that decides.
type line struct {
	armed atomic.Bool
	sent  []byte // the cut comes when these bytes were sent, or
	early bool   // instead of sending them
	reply bool   // when the answer to them has come
}

// through returns a pool like db whose connections pass through the line.
func (l *line) through(t testing.TB, db *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	cfg := db.Config()
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: conn, line: l}, nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

type cutConn struct {
	net.Conn
	line  *line
	fatal atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	l := c.line
	if !l.armed.Load() || !bytes.Contains(b, l.sent) {
		return c.Conn.Write(b)
	}
	l.armed.Store(false)
	if l.early {
		c.Conn.Close()
		return 0, rig.ErrCut
	}
	c.fatal.Store(true) // before it is sent: pgx may read already
	n, err := c.Conn.Write(b)
	if !l.reply {
		c.Conn.Close()
	}
	return n, err
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.fatal.Load() {
		return n, err
	}
	c.Conn.Close() // the answer has come, and nobody hears it
	return 0, rig.ErrCut
}

// Whatever becomes of a connection, and whenever: the batch takes effect once, and is
// counted once. Bug: what is in doubt is read and, if it is not there yet,
// taken as rolled back.
func TestDoubtIsSettledByAppendingAgain(t *testing.T) {
	rig.Lengthy(t)
	appended, commit := []byte("_append\x00"), []byte("COMMIT")
	for name, test := range map[string]struct {
		line  *line
		batch []string
		calls int64
		setup string
	}{
		"the reply is lost":                              {line: &line{sent: appended, reply: true}, batch: []string{"put 1 1", "put 2 2"}},
		"the server still works at it":                   {line: &line{sent: appended}, batch: []string{"put 1 1", "put 2 2"}, setup: slowly},
		"the reply to COMMIT is lost":                    {line: &line{sent: commit, reply: true}, batch: []string{"put 1 1", "call 2"}, calls: 1},
		"COMMIT does not arrive, and handlers run again": {line: &line{sent: commit, early: true}, batch: []string{"put 1 1", "call 2"}, calls: 2},
		"the reply to all that is queued is lost":        {line: &line{sent: commit, reply: true}, batch: []string{"call 1", "call -2"}, calls: 2},
		"what is queued does not arrive":                 {line: &line{sent: commit, early: true}, batch: []string{"put 1 1", "call -2"}, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			db := rig.Database(t)
			if test.setup != "" {
				idemtest.Exec(t, db, test.setup)
			}
			var calls atomic.Int64
			c := rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
				calls.Add(1)
				if row < 0 {
					tx.Queue(`INSERT INTO t VALUES ($1, $1)`, -row)
					return nil
				}
				_, err := tx.Exec(ctx, `INSERT INTO t VALUES ($1, $1)`, row)
				return err
			}}.Consumer(t, test.line.through(t, db))
			sink := rig.Drive(t, c)
			rig.Assign(t, sink, 0)
			rig.Deliver(t, sink, rig.Records(0, "call -9")) // its text is prepared on its first use
			calls.Store(0)
			test.line.armed.Store(true)
			rig.Deliver(t, sink, rig.Records(1, test.batch...))
			rig.Want(t, "the line was cut", test.line.armed.Load(), false)
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
