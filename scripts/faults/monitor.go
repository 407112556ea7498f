package main

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// monitor polls the ledger, and keeps the longest time for which a partition made no progress
// although there was work.
type monitor struct {
	t     *theatre
	stop  context.CancelFunc
	ended chan struct{}

	joining, cut time.Time // of the goroutine that polls: since when the group waits; the last cut for it

	mu       sync.Mutex
	passed   map[int32]int64
	moved    map[int32]time.Time // each partition's last progress, or when it had nothing to do
	longest  time.Duration
	recent   time.Duration // the longest since it was asked for
	freeings int           // how often the group waited for nobody
}

func startMonitor(ctx context.Context, t *theatre) *monitor {
	ctx, stop := context.WithCancel(ctx)
	m := &monitor{t: t, stop: stop, ended: make(chan struct{}), passed: map[int32]int64{}, moved: map[int32]time.Time{}, joining: time.Now()}
	go m.run(ctx)
	return m
}

func (m *monitor) run(ctx context.Context) {
	defer close(m.ended)
	var conn *pgx.Conn
	at := ""
	for ctx.Err() == nil {
		if now := m.t.database(); conn == nil || conn.IsClosed() || at != now {
			if conn != nil {
				_ = conn.Close(ctx) // the server may be gone
			}
			at, conn = now, connect(ctx, now)
		}
		m.poll(ctx, conn)
		m.expelDead(ctx)
		m.freeGroup()
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	if conn != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // as above
	}
}

// connect returns nil while there is no server.
func connect(ctx context.Context, at string) *pgx.Conn {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil
	}
	return conn
}

// deadMember is how long after its death a process is a member of the group.
const deadMember = 2 * time.Second

// expelDead ends the sessions of processes that have died.
func (m *monitor) expelDead(ctx context.Context) {
	m.t.expel(func(id string) error { return m.t.broker.Expel(ctx, m.t.group(), id) })
}

// joinPatience is how long a group may wait for its members: longer than for one that is missing.
const joinPatience = 6 * time.Second

// freeGroup ends the wait of a group that has nobody to wait for. The broker of the kit miscounts
// when a member goes that had just joined. Then it waits for max.poll.interval, and each time that
// a member asks to join the wait begins again: members that ask at different times keep it waiting
// for ever. If their connections are cut, they ask at the same time.
func (m *monitor) freeGroup() {
	now := time.Now()
	if !m.t.broker.Joining(m.t.group()) {
		m.joining = now
	}
	if now.Sub(m.joining) < joinPatience || now.Sub(m.cut) < maxPoll+joinPatience {
		return
	}
	m.cut = now
	_ = m.t.during(func() error { m.t.kafka.CutAll(); return nil }) // no error is possible
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freeings++
}

// poll compares the ledger with the log once.
func (m *monitor) poll(ctx context.Context, conn *pgx.Conn) {
	var passed map[int32]int64
	if conn != nil {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var err error
		if passed, err = audit.Passed(ctx, conn); err != nil {
			passed = nil
		}
	}
	ends := m.t.known()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for p, end := range ends {
		if next, known := passed[p]; m.moved[p].IsZero() || known && (next != m.passed[p] || next >= end) {
			m.moved[p] = now
		}
		m.recent = max(m.recent, now.Sub(m.moved[p]))
		m.longest = max(m.longest, m.recent)
	}
	if passed != nil {
		m.passed = passed
	}
}

func total(passed map[int32]int64) (n int64) {
	for _, next := range passed {
		n += next
	}
	return n
}

// unread tells which partitions are not read to the end, and how long one of them has stood.
func (m *monitor) unread() (all []audit.Finding, standing time.Duration) {
	ends := m.t.known()
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, end := range ends {
		if m.passed[p] < end && !m.moved[p].IsZero() {
			standing = max(standing, time.Since(m.moved[p]))
		}
	}
	return audit.Unread(m.passed, ends), standing
}

// sum is how many offsets the ledger has passed.
func (m *monitor) sum() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return total(m.passed)
}

// partitions are the offsets that the ledger has passed, by partition.
func (m *monitor) partitions() map[int32]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.passed)
}

// since tells the longest stand-still since it was called last.
func (m *monitor) since() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.recent = 0 }()
	return m.recent
}

// end stops polling and tells the longest stand-still.
func (m *monitor) end() time.Duration {
	m.stop()
	<-m.ended
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.longest
}

// freed is how often the group was freed from waiting for nobody.
func (m *monitor) freed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.freeings
}
