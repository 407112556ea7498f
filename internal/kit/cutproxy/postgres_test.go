package cutproxy

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

// server runs until the test binary ends.
var server = sync.OnceValues(func() (string, error) {
	if url := os.Getenv(postgres.EnvURL); url != "" {
		return url, nil
	}
	s, err := postgres.Start(context.Background(), postgres.Options{})
	if err != nil {
		return "", err
	}
	return s.URL(), nil
})

// setup makes an empty table r and a proxy before the server.
func setup(t *testing.T) (direct *pgx.Conn, p *Proxy, through *pgx.ConnConfig) {
	t.Helper()
	url, err := server()
	if err != nil {
		t.Fatal(err)
	}
	through, err = pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	direct, err = pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		direct.Exec(context.Background(), "drop table if exists r")
		direct.Close(context.Background())
	})
	if _, err := direct.Exec(t.Context(), "create table r (i int)"); err != nil {
		t.Fatal(err)
	}
	p, err = New(pgconn.NetworkAddress(through.Host, through.Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	through.Host, through.Port, through.TLSConfig = p.Addr().IP.String(), uint16(p.Addr().Port), nil
	through.Fallbacks = nil
	return direct, p, through
}

func rows(t *testing.T, direct *pgx.Conn) (n int) {
	t.Helper()
	if err := direct.QueryRow(t.Context(), "select count(*) from r").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCommitAnswerLost(t *testing.T) {
	for name, hang := range map[string]bool{"cut": false, "hang": true} {
		t.Run(name, func(t *testing.T) {
			direct, p, through := setup(t)
			conn, err := pgx.ConnectConfig(t.Context(), through)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			rule := CommitAnswerLost()
			if hang {
				rule.Do = Hang
			}
			fired := p.Once(rule)
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "insert into r values (1)"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-fired:
				t.Fatal("the rule fired before the commit")
			default:
			}
			patience := time.Minute
			if hang {
				patience = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err = tx.Commit(ctx)
			if err == nil {
				t.Error("the client heard of the commit")
			}
			if timeout := errors.Is(err, context.DeadlineExceeded); timeout != hang {
				t.Errorf("got %v", err)
			}
			if n := rows(t, direct); n != 1 {
				t.Errorf("%d rows, want the committed one", n)
			}
			select {
			case <-fired:
			default:
				t.Error("the rule did not fire")
			}
		})
	}
}

func TestRuleFiresOnce(t *testing.T) {
	direct, p, through := setup(t)
	p.Once(CommitAnswerLost())
	var failed int
	for range 3 {
		conn, err := pgx.ConnectConfig(t.Context(), through)
		if err != nil {
			t.Fatal(err)
		}
		err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "insert into r values (1)")
			return err
		})
		if err != nil {
			failed++
		}
		conn.Close(t.Context())
	}
	if n := rows(t, direct); n != 3 || failed != 1 {
		t.Errorf("%d rows and %d errors, want 3 and 1", n, failed)
	}
}

// A commit that never reaches the server must leave no row: the other half of doubt.
func TestCommitLost(t *testing.T) {
	direct, p, through := setup(t)
	conn, err := pgx.ConnectConfig(t.Context(), through)
	if err != nil {
		t.Fatal(err)
	}
	p.Once(Rule{Direction: Up, Match: []byte("commit")})
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "insert into r values (1)")
		return err
	})
	if err == nil {
		t.Error("the commit succeeded")
	}
	if n := rows(t, direct); n != 0 {
		t.Errorf("%d rows, want none", n)
	}
}
