package outbox_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/outbox"
)

// ice freezes connections: like those of a stopped process, they read nothing from their sockets
// and write nothing.
type ice struct {
	mu      sync.Mutex
	atBytes int // freezes when a connection has read so much; 0 is never
	thawed  chan struct{}
}

type icy struct {
	net.Conn
	ice  *ice
	read int
}

func (c *icy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read += n
	c.ice.took(c.read)
	c.ice.wait()
	return n, err
}

func (c *icy) Write(b []byte) (int, error) {
	c.ice.wait()
	return c.Conn.Write(b)
}

func (i *ice) freeze() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.thawed == nil {
		i.thawed = make(chan struct{})
	}
}

// took freezes when a connection has read enough.
func (i *ice) took(bytes int) {
	i.mu.Lock()
	enough := i.atBytes > 0 && bytes > i.atBytes
	i.mu.Unlock()
	if enough {
		i.freeze()
	}
}

func (i *ice) thaw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.thawed != nil {
		close(i.thawed)
		i.thawed, i.atBytes = nil, 0
	}
}

func (i *ice) wait() {
	i.mu.Lock()
	thawed := i.thawed
	i.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
}

// frozen is a pool of the same database whose connections freeze together.
func frozen(t *testing.T, db *pgxpool.Pool, i *ice) *pgxpool.Pool {
	t.Helper()
	config := db.Config()
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &icy{Conn: conn, ice: i}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A relay that leads is stopped, and Postgres waits for it until its socket has room: for
// notifications, or in the middle of an answer. No limit of the server's ends such a session.
// Another relay leads within seconds.
func TestAStoppedRelayLosesItsLead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   int
		fill string
	}{
		"notifications": {0, `SELECT pg_notify('idem_outbox', repeat('x', 7000) || n) FROM generate_series(1, 500) n`},
		"an answer":     {1 << 20, `INSERT INTO idem_outbox (aggregatetype, aggregateid, type, payload) SELECT 'user', n::text, 'Seen', decode(repeat('00', 4 << 20), 'hex') FROM generate_series(1, 3) n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, i := table(t, outbox.ByRelay), &ice{atBytes: c.at}
			pace := func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 2*time.Second) }
			first, stop := relay(t, frozen(t, db, i), &log{}, pace)
			t.Cleanup(i.thaw)
			until(t, "it leads", func() bool { return first.Stats().Leading && query(t, db, leadersSQL) == "1" })
			if c.at == 0 {
				i.freeze()
			}
			idemtest.Exec(t, db, c.fill)
			until(t, "Postgres waits for it", func() bool { return query(t, db, clientWriteSQL) == "1" })
			broker := &log{}
			var logged *bytes.Buffer
			_, finish := relay(t, db, broker, func(r *outbox.Runner) { pace(r); logged = lines(r.Relay) })
			write(t, db, "7", "1")
			until(t, "another one has sent all", func() bool { return left(t, db) == "0" })
			finish()
			if text := logged.String(); !strings.Contains(text, `level=WARN msg="outbox: the relay that led was silent, and its session was ended" session="idemgen outbox, `) || !strings.Contains(text, " silent=2s\n") {
				t.Errorf("logged\n%s", text)
			}
			i.thaw()
			stop()
		})
	}
}

const (
	leadersSQL     = `SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	clientWriteSQL = `SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'ClientWrite' AND datname = current_database()`
)

// A relay that leads and has nothing to do is not silent: no relay beside it ends its session.
func TestAnIdleRelayKeepsItsLead(t *testing.T) {
	t.Parallel()
	db := table(t, outbox.ByRelay)
	pace := func(r *outbox.Runner) { r.SetPace(20*time.Millisecond, 4*time.Second) }
	first, _ := relay(t, db, &log{}, pace)
	until(t, "it leads", func() bool { return first.Stats().Leading && query(t, db, leadersSQL) == "1" })
	leaders := `SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	before := query(t, db, leaders)
	second, _ := relay(t, db, &log{}, pace)
	time.Sleep(7 * time.Second) // a silent one is ended meanwhile
	want(t, "leaders", query(t, db, leaders), before)
	if err := second.Health(); err != nil {
		t.Error(err)
	}
}
