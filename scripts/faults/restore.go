package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/script"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// restoreFaults bring back a copy of the database: it is behind what the group has committed.
var restoreFaults = []fault{
	{name: "a copy of the database is brought back", do: restored},
	{name: "a copy from before the first start is brought back", do: restoredEmpty},
	{name: "a copy of the database's files is brought back, with effects under way", users: pings, do: filesRestored},
}

// restored brings the database back twice. What was applied since the copy is applied again, and
// the service says that the database lost commits.
func restored(ctx context.Context, t *theatre) (string, error) {
	const rounds = 2
	lost := int64(0)
	for range rounds {
		if err := t.worked(ctx); err != nil {
			return "", err
		}
		if err := t.backUp(ctx); err != nil {
			return "", err
		}
		if err := t.worked(ctx); err != nil {
			return "", err
		}
		before := t.monitor.sum()
		if err := t.restore(ctx); err != nil {
			return "", err
		}
		n, err := t.behind(ctx, before)
		if err != nil {
			return "", err
		}
		lost += n
	}
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	if err := t.said(ctx, "the database lost commits"); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d times, with the effects of %d records", rounds, lost), nil
}

// restoredEmpty brings back a database without a ledger. Its partitions halt; the topic is then
// read again from its first records, as the command says.
func restoredEmpty(ctx context.Context, t *theatre) (string, error) {
	if err := t.backUp(ctx); err != nil {
		return "", err
	}
	if err := t.worked(ctx); err != nil {
		return "", err
	}
	if err := t.restore(ctx); err != nil {
		return "", err
	}
	if err := t.startWaiting(ctx); err != nil {
		return "", err
	}
	commands, err := t.halted(ctx, 2*partitions, halt.LedgerMissing)
	if err != nil {
		return "", err
	}
	commands = slices.DeleteFunc(commands, func(c string) bool { return !bytes.Contains([]byte(c), []byte(" --to 0 ")) })
	if len(commands) != partitions {
		return "", fmt.Errorf("%d commands begin at the first record, want %d", len(commands), partitions)
	}
	return fmt.Sprintf("once; %d partitions halted, and went on by idemgen stream set", partitions), t.comeBack(ctx, commands)
}

// filesRestored brings the same copy back twice: while no process runs, and under processes that
// live through it. The copy is taken, and brought back, while calls are under way.
func filesRestored(ctx context.Context, t *theatre) (string, error) {
	t.env = append(t.env, script.LongCall+"=1s")
	if err := t.startWorking(ctx, 2); err != nil {
		return "", err
	}
	lost := int64(0)
	err := t.load(ctx, usersRate, func() error {
		if err := t.commitsBeyond(ctx, nil); err != nil { // each partition has a ledger
			return err
		}
		if err := t.copyFiles(ctx); err != nil {
			return err
		}
		for _, live := range []bool{false, true} {
			// Each partition has calls before its last commit to Kafka: others are repeated unnoticed.
			if err := t.commitsBeyond(ctx, t.monitor.partitions()); err != nil {
				return err
			}
			before := t.monitor.sum()
			for i := len(t.running) - 1; i >= 0 && !live; i-- {
				if err := t.kill(t.running[i]); err != nil {
					return err
				}
			}
			if err := t.bringBack(ctx); err != nil {
				return err
			}
			n, err := t.behind(ctx, before)
			if err == nil && !live {
				err = t.startWorking(ctx, 2)
			}
			if err == nil {
				err = t.movesAll(ctx, patience)
			}
			if err != nil {
				return err
			}
			lost += n
		}
		return nil
	})
	if err == nil {
		err = t.caughtUp(ctx)
	}
	if err == nil {
		err = t.said(ctx, "the database lost commits")
	}
	if err != nil {
		return "", err
	}
	did, err := t.users.callsBy(ctx, t)
	return fmt.Sprintf("2 times, with the effects of %d records; %s", lost, did), err
}

// restore is one of a copy of the database's files.
type restore struct {
	copied, back time.Time
	committed    []int64 // by the group, when the database went back
}

// commitsBeyond waits until the group has committed more than these offsets.
func (t *theatre) commitsBeyond(ctx context.Context, offsets map[int32]int64) error {
	return stage.Until(ctx, patience, func() (bool, error) {
		for p, committed := range t.broker.Committed(t.group(), t.topic) {
			if committed <= offsets[int32(p)] {
				return false, t.dead()
			}
		}
		return true, nil
	})
}

// copyFiles copies the files of the server, as a crash leaves them.
func (t *theatre) copyFiles(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, t.database())
	if err != nil {
		return err
	}
	err = conn.QueryRow(ctx, "SHOW data_directory").Scan(&t.files)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	t.copied = time.Now()
	if err := t.whileDown(func() error { return replaceFiles(ctx, t.files, t.files+".copy") }); err != nil {
		return err
	}
	if conn, err = pgx.Connect(ctx, t.database()); err != nil {
		return err
	}
	t.atCopy, err = audit.Passed(ctx, conn)
	return errors.Join(err, conn.Close(ctx))
}

// bringBack puts the copy in the place of the server's files.
func (t *theatre) bringBack(ctx context.Context) error {
	r := restore{copied: t.copied}
	err := t.whileDown(func() error {
		r.committed = t.broker.Committed(t.group(), t.topic)
		return replaceFiles(ctx, t.files+".copy", t.files)
	})
	r.back = time.Now()
	t.restored = append(t.restored, r)
	return err
}

// whileDown crashes the server, does something and starts it again.
func (t *theatre) whileDown(do func() error) error {
	return t.during(func() error {
		if err := t.postgres.Crash(); err != nil {
			return err
		}
		return errors.Join(do(), t.postgres.Restart())
	})
}

// replaceFiles makes a folder a copy of another one.
func replaceFiles(ctx context.Context, from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}

// worked runs the service under load until it has applied and committed something, and ends it.
func (t *theatre) worked(ctx context.Context) error {
	if err := t.startWorking(ctx, 2); err != nil {
		return err
	}
	err := t.load(ctx, rate, func() error { return t.moves(ctx, 800, patience) })
	if err == nil {
		err = t.caughtUp(ctx)
	}
	return errors.Join(err, t.stopAll())
}

// said waits until a process has logged a text.
func (t *theatre) said(ctx context.Context, text string) error {
	return stage.Until(ctx, 30*time.Second, func() (bool, error) {
		return slices.ContainsFunc(t.started, func(p *stage.Process) bool { return bytes.Contains(p.Log.All(), []byte(text)) }), t.dead()
	})
}

// backUp copies the database while no service runs.
func (s *servers) backUp(ctx context.Context) error {
	return s.administer(ctx, func(admin *pgx.Conn, name string) error {
		if _, err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted(name+"_copy")); err != nil {
			return err
		}
		return s.alone(ctx, admin, name, "CREATE DATABASE "+quoted(name+"_copy")+" TEMPLATE "+quoted(name))
	})
}

// restore puts the copy in the place of the database, while no service runs.
func (s *servers) restore(ctx context.Context) error {
	return s.administer(ctx, func(admin *pgx.Conn, name string) error {
		if err := s.alone(ctx, admin, name, "DROP DATABASE "+quoted(name)); err != nil {
			return err
		}
		_, err := admin.Exec(ctx, "ALTER DATABASE "+quoted(name+"_copy")+" RENAME TO "+quoted(name))
		return err
	})
}

// administer connects to another database of the server.
func (s *servers) administer(ctx context.Context, do func(admin *pgx.Conn, name string) error) error {
	u, err := url.Parse(s.database())
	if err != nil {
		return err
	}
	name := u.Path[1:]
	u.Path = "/template1"
	admin, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	return errors.Join(do(admin, name), admin.Close(ctx))
}

// alone runs a statement that needs a database without sessions: that of the monitor comes back.
func (s *servers) alone(ctx context.Context, admin *pgx.Conn, name, sql string) error {
	var last error
	err := stage.Until(ctx, 30*time.Second, func() (bool, error) {
		if _, err := admin.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name); err != nil {
			return false, err
		}
		_, last = admin.Exec(ctx, sql)
		return last == nil, nil
	})
	if errors.Is(err, stage.ErrTimeout) {
		err = errors.Join(err, last)
	}
	return err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
