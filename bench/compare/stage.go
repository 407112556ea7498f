package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

const (
	poisonTopic = topic + ".poison" // of Watermill
	bookedTopic = "booked.v1"       // of the Kafka transactions
	lanes       = 8                 // cells that are played at the same time
)

// stage is what all cells share: a Postgres whose template has the tables of each way.
type stage struct {
	program   string // this one
	logs      string // folder of what the processes log
	temporary string // the same, if nobody wants to keep it
	postgres  *idemtest.Postgres
	url       *url.URL      // of the template
	admin     *pgxpool.Pool // not on the template: while it is copied, nobody may be connected to it

	mu        sync.Mutex
	databases int
}

// tables are those of the ways by hand, beside accounts and idemgen's own, which its migrations
// made. Each event has an account of its own, so that the account's bookings are its effects.
var tables = fmt.Sprintf(`
CREATE TABLE processed_ids (id text PRIMARY KEY);
CREATE TABLE consumed_offsets (partition int PRIMARY KEY, next bigint NOT NULL);
INSERT INTO accounts SELECT to_char(event, '"event-"FM0000'), 0, 0 FROM generate_series(0, %d) event;`, events-1)

// open starts what all cells share. root is the folder of the repository.
func open(ctx context.Context, root, logs string) (_ *stage, err error) {
	s := &stage{logs: logs}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.program, err = os.Executable(); err != nil {
		return nil, err
	}
	if logs == "" {
		s.temporary, err = os.MkdirTemp("", "idemgen-compare-")
		s.logs = s.temporary
	} else {
		err = os.MkdirAll(logs, 0o755)
	}
	if err != nil {
		return nil, err
	}
	if s.postgres, err = idemtest.StartPostgres(ctx, idemtest.PostgresOptions{TCP: true, Conf: map[string]string{"max_connections": "200"}}); err != nil {
		return nil, err
	}
	if s.url, err = url.Parse(s.postgres.URL()); err != nil {
		return nil, err
	}
	if err := s.postgres.Migrate(ctx, filepath.Join(root, "bench/accounts/migrations")); err != nil {
		return nil, err
	}
	db, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(ctx, tables)
	if err := errors.Join(err, db.Close(ctx)); err != nil {
		return nil, err
	}
	s.admin, err = pgxpool.New(ctx, s.databaseURL("template1"))
	return s, err
}

func (s *stage) close() error {
	var errs []error
	if s.admin != nil {
		s.admin.Close()
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Close())
	}
	if s.temporary != "" {
		errs = append(errs, os.RemoveAll(s.temporary))
	}
	return errors.Join(errs...)
}

func (s *stage) databaseURL(name string) string {
	u := *s.url
	u.Path = "/" + name
	return u.String()
}

// newDatabase copies the template, one copy at a time, as Postgres demands.
func (s *stage) newDatabase(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases++
	name := fmt.Sprint("cell_", s.databases)
	template := pgx.Identifier{strings.TrimPrefix(s.url.Path, "/")}.Sanitize()
	_, err := s.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template)
	return s.databaseURL(name), err
}

// playAll plays each way under each fault, and returns the table.
func (s *stage) playAll(ctx context.Context) (string, error) {
	cells := make([][]string, len(ways))
	failed := make([]error, len(ways)*len(faults))
	lane := make(chan struct{}, lanes)
	var playing sync.WaitGroup
	for i, w := range ways {
		cells[i] = make([]string, len(faults))
		for j, f := range faults {
			lane <- struct{}{}
			playing.Go(func() {
				defer func() { <-lane }()
				if cells[i][j], failed[i*len(faults)+j] = s.play(ctx, w, f); failed[i*len(faults)+j] == nil {
					fmt.Fprintf(os.Stderr, "%s: %s: %s\n", w.name, f.name, cells[i][j])
				}
			})
		}
	}
	playing.Wait()
	return render(cells), errors.Join(failed...)
}
