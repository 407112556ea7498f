package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// network is what lies between the owners of a simulation and Postgres. While it is steered, a
// request stays on its way until it is delivered, and its answer until it is handed over: one step
// at a time, and nothing else happens meanwhile.
type network struct {
	db *pgxpool.Pool // connects without the network

	mu       sync.Mutex
	changed  *sync.Cond
	steered  bool
	running  *task // the only one whose goroutine runs; the others wait for their answers
	backends []*backend
	texts    map[string]string // of prepared statements, by their names
	late     []*link           // without a client, and something of them is still on its way or open
}

func newNetwork(db *pgxpool.Pool) *network {
	n := &network{db: db, texts: map[string]string{}}
	n.changed = sync.NewCond(&n.mu)
	return n
}

// through returns a pool like the network's whose connections are its links.
func (n *network) through(t testing.TB) *pgxpool.Pool {
	t.Helper()
	cfg := n.db.Config()
	cfg.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) { return &link{n: n}, nil }
	cfg.MaxConns = 8
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // by the time that has passed
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// task is a call of an owner. Its goroutine runs until it waits for the answer to a request that
// is steered, or the call is over.
type task struct {
	link *link // that it waits at
	over bool
}

// link is a client's connection.
type link struct {
	n          *network
	s          *backend // nil until the client connects
	prepared   bool     // the client has set its session up
	background bool     // it belongs to no task
	user       *task    // whose request is steered; nil if none is
	text       string   // the last request, for people
	request    []byte   // on its way to the server
	answer     []byte   // on its way to the client
	inbox      []byte   // has arrived there
	cut        bool
}

// unsteered are statements that are no steps of a schedule, because nothing of the protocol
// depends on when they run, or because each session runs them once: then it does not matter which
// session a task gets.
var unsteered = regexp.MustCompile(`^\s*(SELECT EXISTS \(SELECT FROM idem_key_gen|SELECT idem_keys_open|SELECT gen, token|SELECT s.stream, s.topic_id|` +
	`SELECT order_key, count|WITH asked|SELECT pg_catalog.pg_logical_emit_message)`)

// Write implements [net.Conn]. A request that is steered is only put on its way.
func (l *link) Write(b []byte) (int, error) {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case l.cut:
		return 0, rig.ErrCut
	case l.s == nil:
		return len(b), l.connect(b)
	case b[0] == 'X': // the client leaves, the session stays
		return len(b), nil
	}
	l.request = append(l.request, b...)
	if !l.steers(b) || n.running == nil { // nobody would let the request of no task arrive
		return len(b), l.deliver()
	}
	l.user = n.running
	return len(b), nil
}

// connect answers a client's first bytes. A request to cancel a statement is lost on its way.
func (l *link) connect(first []byte) (err error) {
	if l.cut = binary.BigEndian.Uint32(first[4:]) == 80877102; l.cut {
		return nil
	}
	n := l.n
	i := slices.IndexFunc(n.backends, func(s *backend) bool { return s.link == nil && s.owed == 0 })
	if i < 0 {
		i = len(n.backends)
		s, err := n.open()
		if err != nil {
			return err
		}
		n.backends = append(n.backends, s)
	}
	l.s = n.backends[i]
	l.s.link, l.inbox = l, bytes.Clone(l.s.hello)
	return nil
}

// steers reports whether a request is a step of a schedule: if it executes something in a session
// that was set up. Until then the client binds no statement that has a name.
func (l *link) steers(b []byte) bool {
	l.background = l.background || bytes.Contains(b, []byte("idemgen upkeep"))
	steers := false
	all := l.n.statements(b)
	for _, x := range all {
		l.prepared = l.prepared || x.name != ""
		steers = steers || !unsteered.MatchString(x.sql)
	}
	l.text = inShort(all)
	return steers && l.prepared && l.n.steered && !l.background
}

// deliver lets a request arrive.
func (l *link) deliver() error {
	b := l.request
	l.request = nil
	return l.s.send(b)
}

// Read implements [net.Conn].
func (l *link) Read(b []byte) (int, error) {
	n := l.n
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(l.inbox) == 0 {
		switch {
		case l.cut:
			return 0, rig.ErrCut
		case l.s != nil && l.s.ended && l.user == nil: // nil: the client reads before it writes
			return 0, io.EOF
		case l.user != nil && l.user.link == nil:
			l.user.link = l
			n.changed.Broadcast()
		}
		n.changed.Wait()
	}
	got := copy(b, l.inbox)
	l.inbox = l.inbox[got:]
	return got, nil
}

// Close implements [net.Conn].
func (l *link) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.drop()
	return nil
}

// drop takes the client away. Its request may still arrive, and a transaction stays open until the
// server learns of it.
func (l *link) drop() {
	n := l.n
	if l.cut || l.s == nil {
		l.cut = true
		return
	}
	l.cut, l.inbox, l.answer = true, nil, nil
	if l.user != nil {
		l.user.link, l.user = nil, nil
	}
	if n.steered && (len(l.request) > 0 || l.s.owed > 0 || l.s.status != 'I') {
		n.late = append(n.late, l)
	} else {
		l.end()
	}
	n.changed.Broadcast()
}

// end lets the server learn that the client is gone. It works at what has arrived before.
func (l *link) end() {
	n := l.n
	n.late = slices.DeleteFunc(n.late, func(o *link) bool { return o == l })
	l.request, l.s.link = nil, nil
	if err := l.s.send(append(simple("ROLLBACK"), simple("DISCARD ALL")...)); err != nil || l.s.ended {
		n.backends = slices.DeleteFunc(n.backends, func(s *backend) bool { return s == l.s })
		l.s.Close()
	}
}

// rest waits until nothing moves: the task that ran waits or is over, and each request that was
// delivered is answered, or waits for a lock.
func (n *network) rest(t testing.TB) error {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for end := time.Now().Add(3 * time.Minute); ; {
		runs := n.running != nil && !n.running.over && n.running.link == nil
		if !runs && !n.owing() {
			break
		}
		timer := time.AfterFunc(time.Millisecond, func() {
			n.mu.Lock() // not before the wait has begun
			defer n.mu.Unlock()
			n.changed.Broadcast()
		})
		n.changed.Wait()
		if late := !timer.Stop(); late && !runs && n.allLocked(t) {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("after 3m a task still runs (%v), or the server still works (%v); all goroutines:\n%s", runs, n.owing(), stacks())
		}
	}
	n.running = nil
	return nil
}

// stacks are the stacks of all goroutines.
func stacks() []byte {
	all := make([]byte, 1<<20)
	return all[:runtime.Stack(all, true)]
}

// close cuts all links, so that all tasks end.
func (n *network) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.steered = false
	for _, s := range n.backends {
		if s.link != nil {
			s.link.cut = true
		}
		s.Close()
	}
	n.changed.Broadcast()
}

func (n *network) owing() bool {
	return slices.ContainsFunc(n.backends, func(s *backend) bool { return s.owed > 0 })
}

// allLocked reports whether each backend that owes an answer waits for a lock.
func (n *network) allLocked(t testing.TB) bool {
	t.Helper()
	var all []int32
	for _, s := range n.backends {
		if s.owed > 0 {
			all = append(all, int32(s.pid))
		}
	}
	n.mu.Unlock()
	var locked int
	err := n.db.QueryRow(t.Context(), `SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted AND pid = ANY ($1)`, all).Scan(&locked)
	n.mu.Lock()
	if err != nil {
		t.Fatal(err)
	}
	return locked == len(all)
}

// What a connection has besides.
func (l *link) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (l *link) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (l *link) SetDeadline(time.Time) error      { return nil }
func (l *link) SetReadDeadline(time.Time) error  { return nil }
func (l *link) SetWriteDeadline(time.Time) error { return nil }
