package main

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/scripts/internal/audit"
)

// watch looks at the ledger all the time, and keeps how long some partition of it stood
// still at the longest although there was work.
type watch struct {
	t     *theatre
	stop  context.CancelFunc
	ended chan struct{}

	joining, cut time.Time // of the goroutine that watches: since when the group waits; the last cut for it

	mu      sync.Mutex
	passed  map[int32]int64
	moved   map[int32]time.Time // each partition's last progress, or when it had nothing to do
	longest time.Duration
	locked  int // how often the group waited for nobody
}

func startWatch(ctx context.Context, t *theatre) *watch {
	ctx, stop := context.WithCancel(ctx)
	w := &watch{t: t, stop: stop, ended: make(chan struct{}), passed: map[int32]int64{}, moved: map[int32]time.Time{}, joining: time.Now()}
	go w.run(ctx)
	return w
}

func (w *watch) run(ctx context.Context) {
	defer close(w.ended)
	var conn *pgx.Conn
	at := ""
	for ctx.Err() == nil {
		if now := w.t.database(); conn == nil || conn.IsClosed() || at != now {
			if conn != nil {
				_ = conn.Close(ctx) // the server may be gone
			}
			at, conn = now, connect(ctx, now)
		}
		w.see(ctx, conn)
		w.bury(ctx)
		w.unlock()
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

// missed is how long after its death a process is a member of the group.
const missed = 2 * time.Second

// bury ends the sessions of processes that have died.
func (w *watch) bury(ctx context.Context) {
	w.t.expel(func(id string) error { return w.t.broker.Expel(ctx, group, id) })
}

// joins is how long a group may wait for its members: longer than for one that is missing.
const joins = 6 * time.Second

// unlock ends the wait of a group that has nobody to wait for. The broker of the kit miscounts
// when a member goes that had just joined, and then waits for max.poll.interval, again from
// each time that somebody asks again to join; members that do not ask at the same time keep
// it waiting for ever. With their connections cut they ask at the same time.
func (w *watch) unlock() {
	now := time.Now()
	if !w.t.broker.Joining(group) {
		w.joining = now
	}
	if now.Sub(w.joining) < joins || now.Sub(w.cut) < maxPoll+joins {
		return
	}
	w.cut = now
	w.t.kafka.CutAll()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.locked++
}

// see compares the ledger with the log once.
func (w *watch) see(ctx context.Context, conn *pgx.Conn) {
	var passed map[int32]int64
	if conn != nil {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		var err error
		if passed, err = audit.Passed(ctx, conn); err != nil {
			passed = nil
		}
	}
	ends := w.t.known()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for p, end := range ends {
		if next, known := passed[p]; w.moved[p].IsZero() || known && (next != w.passed[p] || next >= end) {
			w.moved[p] = now
		}
		w.longest = max(w.longest, now.Sub(w.moved[p]))
	}
	if passed != nil {
		w.passed = passed
	}
}

func total(passed map[int32]int64) (n int64) {
	for _, next := range passed {
		n += next
	}
	return n
}

// look tells which partitions are not read to the end, and how long one of them has stood.
func (w *watch) look() (unread []audit.Finding, standing time.Duration) {
	ends := w.t.known()
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, end := range ends {
		if w.passed[p] < end && !w.moved[p].IsZero() {
			standing = max(standing, time.Since(w.moved[p]))
		}
	}
	return audit.Unread(w.passed, ends), standing
}

// sum is how many offsets the ledger has passed.
func (w *watch) sum() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return total(w.passed)
}

// partitions are the offsets that the ledger has passed, by partition.
func (w *watch) partitions() map[int32]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.passed)
}

// end stops watching and tells the longest stand-still.
func (w *watch) end() time.Duration {
	w.stop()
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.longest
}

// freed is how often the group was freed from waiting for nobody.
func (w *watch) freed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.locked
}
