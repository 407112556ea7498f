package idemtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Migrated is like [DB], and applies the *.sql files of dirs as [Migrate] does, one folder after
// another. They are applied once per test binary; further databases are copies, which takes a
// third of the time.
func Migrated(t testing.TB, dirs ...string) *pgxpool.Pool {
	t.Helper()
	var all []migration
	for _, dir := range dirs {
		files, err := migrations(dir)
		if err != nil {
			t.Fatalf("idemtest: migrate: %v", err)
		}
		all = append(all, files...)
	}
	return prepared(t, all, nil)
}

// prepared returns a database of the test's own to which files were applied: the first ones or, if
// something of them was made twice, the second ones.
func prepared(t testing.TB, first, second []migration) *pgxpool.Pool {
	t.Helper()
	server, err := sharedServer()
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	db, err := made(t, server, first)
	if second != nil && existsAlready(err) {
		db, err = made(t, server, second)
	}
	if err != nil {
		t.Fatalf("idemtest: migrate: %v", err)
	}
	return db
}

func made(t testing.TB, server *Postgres, files []migration) (*pgxpool.Pool, error) {
	t.Helper()
	if server.server == nil { // somebody else's server would keep the template
		db := ownDatabase(t, server, "")
		return db, apply(t.Context(), db, files)
	}
	template, err := templateOf(server, files)
	if err != nil {
		return nil, err
	}
	return ownDatabase(t, server, template), nil
}

// templates are functions that return the name of a database, by the content of the files that
// were applied to it. They end with the shared server.
var templates sync.Map

// templateOf returns the name of a database to which files were applied. It makes the database
// when it is first asked for. Nobody is connected to it, or it could not be copied.
func templateOf(server *Postgres, files []migration) (string, error) {
	made, _ := templates.LoadOrStore(content(files), sync.OnceValues(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), templateTimeout)
		defer cancel()
		own, err := newDatabase(ctx, server.admin, "")
		if err != nil {
			return "", err
		}
		db, err := pgxpool.New(ctx, own)
		if err != nil {
			return "", err
		}
		err = apply(ctx, db, files)
		db.Close()
		if err != nil {
			return "", err
		}
		return databaseOf(own)
	}))
	return made.(func() (string, error))()
}

// content identifies files by what they hold.
func content(files []migration) [sha256.Size]byte {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintln(h, len(f.messages))
		for _, sql := range f.messages {
			fmt.Fprintln(h, len(sql))
			io.WriteString(h, sql)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
