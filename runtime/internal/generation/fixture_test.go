package generation_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/wire"
)

// shelf is the generations of consumer a in a database, and its filters.
type shelf struct {
	*generation.Filters
	t       *testing.T
	db      *pgxpool.Pool
	conn    *pgx.Conn
	log     transcript.Buffer
	connect func(*pgx.Conn) // is called when the filters connect
	opened  []*pgx.Conn
	number  int32 // of the open generation
}

// newShelf returns filters that may have so many bytes, and an open generation without keys.
func newShelf(t *testing.T, limit int64) *shelf {
	t.Helper()
	s := &shelf{t: t, db: idemtest.Migrated(t, rig.RuntimeFiles(t)), connect: func(*pgx.Conn) {}, number: 1}
	s.conn = s.dial()
	rig.Do(t, func() error {
		_, err := session.Of(s.conn.PgConn()).Prepare(t.Context(), s.conn.PgConn(), slices.Concat(generation.Statements, []session.Statement{session.ByIndex}))
		return err
	})
	rig.Do(t, func() error { return generation.First(t.Context(), s.conn, "a", time.Hour) })
	s.Filters = generation.NewFilters("a", limit, func(context.Context) (*pgx.Conn, error) {
		conn := s.dial()
		s.opened = append(s.opened, conn)
		s.connect(conn)
		return conn, nil
	}, slog.New(slog.NewTextHandler(&s.log, nil)))
	t.Cleanup(func() {
		s.Close()
		for _, conn := range s.opened {
			rig.Want(t, "a connection is closed after the reading", conn.IsClosed(), true)
		}
		_ = s.conn.Close(context.Background())
	})
	return s
}

func (s *shelf) dial() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(s.t.Context(), s.db.Config().ConnConfig)
	rig.Do(s.t, func() error { return err })
	rig.Do(s.t, func() error { return session.Open(s.t.Context(), conn, session.Options{}) })
	return conn
}

// seal claims keys, and seals the generation that has them.
func (s *shelf) seal(keys ...wire.Key) {
	s.t.Helper()
	for _, k := range keys {
		idemtest.Exec(s.t, s.db, fmt.Sprintf(`INSERT INTO idem_keys VALUES (%d, '%x', 1, 2, 3, 4)`, s.number, k[:]))
	}
	next, err := generation.Prepare(s.t.Context(), s.conn)
	rig.Do(s.t, func() error { return err })
	rig.Do(s.t, func() error {
		return generation.Rotate(s.t.Context(), s.conn, "a", s.number, next, time.Hour, time.Minute)
	})
	rig.Do(s.t, func() error { return generation.Count(s.t.Context(), s.conn, "a", s.number) })
	s.number = next
}

// drop drops a generation.
func (s *shelf) drop(number int32) {
	s.t.Helper()
	idemtest.Exec(s.t, s.db, fmt.Sprintf(`UPDATE idem_key_gen SET sealed_at = sealed_at - interval '2 hours' WHERE gen = %d`, number))
	dropped, err := generation.Drop(s.t.Context(), s.conn, "a", []int32{number}, 0)
	rig.Do(s.t, func() error { return err })
	rig.Want(s.t, "dropped", fmt.Sprint(dropped), fmt.Sprint([]int32{number}))
}

// list reads the generations.
func (s *shelf) list() generation.List {
	s.t.Helper()
	l, err := generation.Read(s.t.Context(), s.conn, "a")
	rig.Do(s.t, func() error { return err })
	return l
}

// listed tells the filters of a list, and waits until they are built.
func (s *shelf) listed() generation.List {
	s.t.Helper()
	l := s.list()
	s.Listed(l)
	s.settle()
	return l
}

// settle waits until no filter is being built.
func (s *shelf) settle() {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Settle()
		s.Lost(nil) // nobody holds the lock
	}()
	select {
	case <-done:
	case <-time.After(rig.Soon):
		s.t.Fatalf("filters are still built:\n%s", s.log.String())
	}
}

// numbered returns keys that begin with their numbers, and end with hashes.
func numbered(numbers ...byte) (keys []wire.Key) {
	for _, n := range numbers {
		k := wire.Key{n}
		for i := 5; i < len(k); i++ {
			k[i] = byte(int(n) * (i + 37) * 101)
		}
		keys = append(keys, k)
	}
	return keys
}
