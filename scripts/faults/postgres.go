package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// postgresFaults concern one server and the connections to it.
var postgresFaults = []fault{
	{name: "sessions killed every 5 ms", do: sessions("pg_terminate_backend")},
	{name: "statements cancelled every 5 ms", do: sessions("pg_cancel_backend")},
	{name: "reply of the commit cut", proxied: true, do: repliesCut},
	{name: "half-open connections", proxied: true, do: halfOpen},
	{name: "Postgres crashes", do: crashes},
	{name: "Postgres stands still", do: standsStill},
	{name: "disk full", cannot: needsRoot, disk: "96m", postgres: idemtest.PostgresOptions{Conf: smallLog}, do: diskFull},
	{name: "held snapshot", do: heldSnapshot},
	{name: "tables altered under prepared statements", do: altered},
}

// every runs do again and again while load runs for so long.
func (l *topicLog) every(ctx context.Context, pause, long time.Duration, do func() error) error {
	end := time.Now().Add(long)
	return l.load(ctx, rate, func() error {
		for time.Now().Before(end) {
			if err := do(); err != nil {
				return err
			}
			if err := stage.Pause(ctx, pause); err != nil {
				return err
			}
		}
		return nil
	})
}

// sessions hits a session of the service at random, again and again.
func sessions(function string) func(context.Context, *theatre) (string, error) {
	return func(ctx context.Context, t *theatre) (string, error) {
		if err := t.startWorking(ctx, 2); err != nil {
			return "", err
		}
		conn, err := pgx.Connect(ctx, t.direct)
		if err != nil {
			return "", err
		}
		defer conn.Close(ctx)
		hits := 0
		err = t.every(ctx, 5*time.Millisecond, 6*time.Second, func() error {
			tag, err := conn.Exec(ctx, hitOne(function))
			hits += int(tag.RowsAffected())
			return err
		})
		if err == nil && hits == 0 {
			err = errors.New("no session was hit")
		}
		return fmt.Sprintf("%d hits", hits), err
	}
}

// hitOne calls a function with a session of the service that is at work.
func hitOne(function string) string {
	return "SELECT " + function + `(pid) FROM pg_stat_activity WHERE application_name = 'idemgen' AND state <> 'idle' ORDER BY random() LIMIT 1`
}

// repliesCut cuts the connection after the server has committed and before the client hears.
func repliesCut(ctx context.Context, t *theatre) (string, error) {
	const cuts = 40
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.repeat(ctx, cuts, 20*time.Millisecond, func(int) error {
		select {
		case <-t.wire.Once(cutproxy.AnswerLost("_append")):
			return nil
		case <-time.After(30 * time.Second):
			return errors.New("no commit passed the proxy in 30 s")
		}
	})
	if err == nil {
		err = t.caughtUp(ctx)
	}
	found := t.logged("whose reply was lost had committed")
	if err == nil && found == 0 {
		err = errors.New("no process found out that a transaction of unknown outcome had committed")
	}
	return fmt.Sprintf("%d cuts, %d transactions found to have committed", cuts, found), err
}

// halfOpen swallows what both sides send, on connections that stay open.
func halfOpen(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.load(ctx, rate/2, func() error {
		for _, d := range []cutproxy.Direction{cutproxy.Up, cutproxy.Down} {
			t.wire.Silence(d, true)
		}
		err := stage.Pause(ctx, 3*time.Second)
		for _, d := range []cutproxy.Direction{cutproxy.Up, cutproxy.Down} {
			t.wire.Silence(d, false)
		}
		if err == nil {
			err = t.movesAll(ctx, patience)
		}
		return err
	})
	return "both ways for 3 s, what was sent meanwhile is lost", err
}

func crashes(ctx context.Context, t *theatre) (string, error) {
	const n = 4
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.repeat(ctx, n, 0, func(int) error {
		if err := t.moves(ctx, 200, patience); err != nil {
			return err
		}
		return errors.Join(t.postgres.Crash(), t.postgres.Restart())
	})
	return fmt.Sprintf("%d times kill -9 of the whole server, and recovery", n), err
}

func standsStill(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	err := t.load(ctx, rate/2, func() error {
		if err := t.postgres.Freeze(); err != nil {
			return err
		}
		err := stage.Pause(ctx, 8*time.Second)
		return errors.Join(err, t.postgres.Thaw())
	})
	return "frozen for 8 s", err
}

func needsRoot() string {
	if os.Geteuid() != 0 {
		return "needs root, to mount a small file system"
	}
	return ""
}

// mountDisk makes a small file system for the server.
func (s *servers) mountDisk(size string) (string, error) {
	dir, err := os.MkdirTemp("/tmp", "idemgen-disk-")
	if err != nil {
		return "", err
	}
	s.onClose = append(s.onClose, func() error { return os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755,size="+size); err != nil {
		return "", fmt.Errorf("mount a file system at %s: %w", dir, err)
	}
	s.onClose = slices.Insert(s.onClose, 0, func() error { return syscall.Unmount(dir, 0) })
	s.disk = dir
	return dir, nil
}

// smallLog keeps the server's own log from filling a small disk.
var smallLog = map[string]string{"max_wal_size": "32MB", "min_wal_size": "32MB"}

// diskFull fills the file system of the server until it cannot write, and makes room again.
// The server fails statements, or ends if it cannot write its own log.
func diskFull(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	ballast := filepath.Join(t.disk, "ballast")
	err := t.load(ctx, 2*rate, func() error {
		if err := t.moves(ctx, 500, patience); err != nil {
			return err
		}
		if err := fill(ballast); err != nil {
			return err
		}
		if err := stage.Pause(ctx, 8*time.Second); err != nil {
			return err
		}
		if err := os.Remove(ballast); err != nil {
			return err
		}
		if conn := connect(ctx, t.direct); conn != nil {
			return conn.Close(ctx)
		}
		_ = t.postgres.Crash() // it has ended by itself, which is an error here
		return t.postgres.Restart()
	})
	if err == nil {
		err = t.caughtUp(ctx)
	}
	said := t.logged("53100")
	return fmt.Sprintf("full for 8 s; %d times SQLSTATE 53100", said), err
}

// fill writes until there is no room.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// heldSnapshot keeps the server from removing dead rows, in every other slice of the same
// work: the others show how fast the service is without. How much it costs is told, not judged.
func heldSnapshot(ctx context.Context, t *theatre) (string, error) {
	const pairs, rounds, records = 4, 3, 1500
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, t.direct)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if err := t.applied(ctx, records); err != nil { // not measured: caches are cold
		return "", err
	}
	slice := func() (took time.Duration, err error) {
		for range rounds {
			if err := t.exec(ctx, "VACUUM idem_ledger, orders"); err != nil {
				return 0, err
			}
			from := time.Now()
			if err := t.applied(ctx, records); err != nil {
				return 0, err
			}
			took += time.Since(from)
		}
		return took, nil
	}
	var free, held time.Duration
	for i := range 2 * pairs {
		took, begin, end := &free, "", ""
		if i%4 == 1 || i%4 == 2 { // neither kind is always the later one, of a larger table
			took, begin, end = &held, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM orders", "COMMIT"
		}
		if _, err := conn.Exec(ctx, begin); err != nil {
			return "", err
		}
		long, err := slice()
		if err != nil {
			return "", err
		}
		*took += long
		if _, err := conn.Exec(ctx, end); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d times idle in REPEATABLE READ for %d records, with VACUUM; throughput %.0f %% of that without, in slices between",
		pairs, rounds*records, 100*free.Seconds()/held.Seconds()), nil
}

func altered(ctx context.Context, t *theatre) (string, error) {
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	changes := []string{
		"ALTER TABLE orders ADD COLUMN later text", "ALTER TABLE orders DROP COLUMN later",
		"ALTER TABLE payments ALTER COLUMN amount TYPE numeric(14,2)", "ALTER TABLE payments ALTER COLUMN amount TYPE numeric(12,2)",
		"ALTER TABLE order_items ALTER COLUMN quantity TYPE bigint", "ALTER TABLE order_items ALTER COLUMN quantity TYPE integer",
		"ALTER TABLE orders ALTER COLUMN channel TYPE text", "ALTER TABLE orders ALTER COLUMN channel TYPE varchar(10)",
	}
	err := t.repeat(ctx, len(changes), 500*time.Millisecond, func(i int) error { return t.exec(ctx, changes[i]) })
	return fmt.Sprintf("%d ALTER TABLE", len(changes)), err
}
