package report

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

const (
	// Every is the longest time between two writes of a service. Readers call a process silent after
	// 3 of them.
	Every = 5 * time.Second
	look  = 250 * time.Millisecond // between two comparisons of the state in memory
	// patience is how long one write may take. The connection has shorter limits on the server, so
	// a statement that waits for a lock ends there, too.
	patience = 3 * time.Second
	// endPatience is how long the end of a process may wait for the row to be deleted.
	endPatience = time.Second
	// renew is how long a connection is used: a new one is checked for planted functions, and leads
	// to the present primary.
	renew = time.Minute
)

// Writer writes the row of one process.
type Writer struct {
	Consumer, Name, Version string
	// Connect opens a connection with short timeouts on the server. The writer keeps it for a
	// minute.
	Connect func(context.Context) (*pgx.Conn, error)
	// Snapshot returns the state of the process. It must neither wait nor do I/O. A zero Since of a
	// partition means that it is not known.
	Snapshot func() process.Report
	Every    time.Duration // the longest time between two writes
	Log      *slog.Logger

	id      string // of the row
	began   time.Time
	conn    *pgx.Conn
	opened  time.Time // when conn was
	pruned  time.Time // opened, of the connection on which old rows were last deleted
	times   times
	written *process.Report // the last one that was written, or nil
	at      time.Time       // when that was tried
	stored  bool            // there may be a row
	failed  int             // writes in a row
	retry   time.Time       // not before this time
}

// Start begins to write, under a new id. The returned function deletes the row, and returns after
// about a second at most.
func (w *Writer) Start() (stop func()) {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	w.id, w.began = hex.EncodeToString(id[:]), time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, quit)
	}()
	return func() {
		close(quit)
		defer time.AfterFunc(endPatience, cancel).Stop()
		<-done
		cancel()
	}
}

func (w *Writer) run(ctx context.Context, quit <-chan struct{}) {
	defer w.end(ctx)
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		w.turn(ctx)
		select {
		case <-quit:
			return
		case <-ticker.C:
		}
	}
}

// turn writes the row if that is due.
func (w *Writer) turn(ctx context.Context) {
	r, now := w.Snapshot(), time.Now()
	w.times.keep(&r, now)
	bound(&r)
	switch {
	case now.Before(w.retry):
		return
	case w.failed == 0 && w.written != nil && now.Sub(w.at) < w.Every && !changed(w.written, &r):
		return
	}
	w.at = now
	err := w.write(ctx, &r)
	if err != nil && ctx.Err() != nil {
		return
	}
	w.tell(&r, err)
	if err != nil {
		w.failed++
		w.retry = time.Now().Add(backoff.Pause(w.failed, look, w.Every))
		return
	}
	w.written, w.failed, w.retry = &r, 0, time.Time{}
}

// tell logs when writes begin to fail, and when they work again.
func (w *Writer) tell(r *process.Report, err error) {
	unaffected, shown := "consumption continues", "commands show its partitions as not known"
	if r.Relay != nil {
		unaffected, shown = "the relay sends events without that", "commands do not show the relay"
	}
	switch {
	case err != nil && w.failed == 0:
		if verdict.Unusable(err) { // the process may wait for it, as Health then reports
			w.Log.Warn("the process cannot report itself, because the database cannot be used; this is retried, and until then "+shown, "err", err)
			return
		}
		w.Log.Warn("the process cannot report itself in the database; "+unaffected+", but "+shown, "err", err, "do", outage.ReasonOf(err).Do)
	case err == nil && w.failed > 0:
		w.Log.Info("the process reports itself in the database again")
	}
}

// upsertSQL takes ages, because times are the database's.
const upsertSQL = `INSERT INTO idem_process (process, consumer, name, version, started_at, seen_at, every, report)
VALUES ($1::text::uuid, $2, $3, $4, clock_timestamp() - $5::float8 * interval '1 s', clock_timestamp(), $6::float8 * interval '1 s', $7::text::jsonb)
ON CONFLICT (process) DO UPDATE SET seen_at = excluded.seen_at, every = excluded.every, report = excluded.report`

// pruneSQL deletes the rows of processes that could not delete theirs.
const pruneSQL = `DELETE FROM idem_process WHERE seen_at < clock_timestamp() - interval '24 hours'`

// nameRight returns an error that names all rights that the writer needs, if one is missing.
func nameRight(ctx context.Context, conn *pgx.Conn, err error) error {
	if conn.IsClosed() {
		return err
	}
	var role string
	_ = conn.QueryRow(ctx, `SELECT current_user`).Scan(&role) // "" names none
	return outage.NameRight(err, role, upsertSQL+"; "+pruneSQL)
}

// write writes the row, and deletes old ones when the connection is new.
func (w *Writer) write(ctx context.Context, r *process.Report) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := column(r)
	if err != nil {
		return err
	}
	if time.Since(w.opened) > renew {
		w.close()
	}
	w.stored = true
	if err := w.exec(ctx, upsertSQL, w.id, w.Consumer, Text(w.Name), Text(w.Version), time.Since(w.began).Seconds(), w.Every.Seconds(), text); err != nil || w.pruned.Equal(w.opened) {
		return err
	}
	w.pruned = w.opened
	return w.exec(ctx, pruneSQL)
}

// exec runs a statement, on a new connection if there is none, or if the one that there was has
// been lost.
func (w *Writer) exec(ctx context.Context, sql string, args ...any) error {
	for {
		used := w.conn != nil
		if !used {
			conn, err := w.Connect(ctx)
			if err != nil {
				return err
			}
			w.conn, w.opened = conn, time.Now()
		}
		_, err := w.conn.Exec(ctx, sql, args...)
		if err == nil {
			return nil
		}
		lost := w.conn.IsClosed()
		err = nameRight(ctx, w.conn, err)
		w.close()
		if !used || !lost || ctx.Err() != nil {
			return err
		}
	}
}

// end deletes the row. If that fails, the row grows old.
func (w *Writer) end(ctx context.Context) {
	if w.stored {
		_ = w.exec(ctx, `DELETE FROM idem_process WHERE process = $1::text::uuid`, w.id)
	}
	w.close()
}

// close closes the connection, if there is one.
func (w *Writer) close() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), look)
	defer cancel()
	_ = w.conn.Close(ctx) // it is not used again, whatever Close returns
	w.conn = nil
}
