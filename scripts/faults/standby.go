package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/scripts/internal/stage"
)

const standbyName = "second"

// withStandby gives the primary a standby, and processes both addresses.
func (s *servers) withStandby(ctx context.Context, synchronous bool) (*idemtest.Postgres, error) {
	if err := s.addStandby(ctx, synchronous); err != nil {
		return nil, err
	}
	first, err := url.Parse(s.direct)
	if err != nil {
		return nil, err
	}
	second, err := url.Parse(s.standby.URL())
	if err != nil {
		return nil, err
	}
	first.Host += "," + second.Host
	s.dsn = first.String() + "&target_session_attrs=read-write"
	return s.standby, nil
}

// addStandby gives the primary a standby that follows it, also through one crash after the
// other: each recovery of the primary ends with a checkpoint, which removes the log that a
// standby has not got yet, and by itself that one tries to connect every 5 s only. A standby
// that can never follow again would hold every commit up.
func (s *servers) addStandby(ctx context.Context, synchronous bool) (err error) {
	if err := s.exec(ctx, "ALTER SYSTEM SET wal_keep_size = '1GB'"); err != nil { // the standby copies it, too
		return err
	}
	s.standby, err = s.postgres.Standby(ctx, standbyName, idemtest.PostgresOptions{
		Durable: true, TCP: true, Conf: map[string]string{"wal_retrieve_retry_interval": "200ms"},
	})
	if err != nil {
		return err
	}
	if err := s.streams(ctx, "true"); err != nil || !synchronous {
		return err
	}
	if err := s.exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '"+standbyName+"'"); err != nil {
		return err
	}
	return s.exec(ctx, "SELECT pg_reload_conf()")
}

// streams waits until the standby follows, and a condition on its row of pg_stat_replication.
func (s *servers) streams(ctx context.Context, condition string) error {
	return stage.Until(ctx, time.Minute, func() (ok bool, err error) {
		conn := connect(ctx, s.direct)
		if conn == nil {
			return false, nil
		}
		defer conn.Close(ctx)
		err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming' AND "+condition+")").Scan(&ok)
		return ok, err
	})
}

// follows waits until the synchronous standby has all that anybody has seen. A commit is seen
// without it if somebody ended its wait, or if the server crashed meanwhile; once an audit
// counted it, it must not be taken back.
func (s *servers) follows(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.direct)
	if err != nil {
		return err
	}
	var end string
	err = conn.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text").Scan(&end)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	if err := s.streams(ctx, "sync_state = 'sync' AND flush_lsn >= '"+end+"'"); err != nil {
		return fmt.Errorf("the standby does not follow: %w", err)
	}
	return nil
}

// promote makes the standby the database that counts.
func (s *servers) promote(ctx context.Context, next *idemtest.Postgres) error {
	defer s.follow(next)
	return promote(ctx, next)
}

// promote makes a standby a primary.
func promote(ctx context.Context, next *idemtest.Postgres) error {
	return stage.Until(ctx, time.Minute, func() (promoted bool, err error) {
		conn := connect(ctx, next.URL())
		if conn == nil {
			return false, nil
		}
		defer conn.Close(ctx)
		recovers := true
		if err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&recovers); err != nil || !recovers {
			return err == nil, nil // while it recovers it may cancel this
		}
		// A statement that waits could hold the recovery up that it waits for.
		_, _ = conn.Exec(ctx, "SELECT pg_promote(false)")
		return false, nil
	})
}
