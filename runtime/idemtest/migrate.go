package idemtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Migrate applies the *.sql files of dir in the order of their names. A plain file runs as one
// transaction, unless it contains statements that say otherwise. Files for goose (-- +goose Up)
// and golang-migrate (.up.sql) are applied upwards, as those tools do.
func Migrate(t testing.TB, db *pgxpool.Pool, dir string) {
	t.Helper()
	files, err := migrations(dir)
	if err == nil {
		err = apply(t.Context(), db, files)
	}
	if err != nil {
		t.Fatalf("idemtest: migrate: %v", err)
	}
}

// before reads what is applied before a log comes: the tables of others, the service's own, rows.
// The folder of migrations may make the tables of others, too, because the team keeps all of its
// migrations there: then these come first. The CHECK constraints of tables hold for cases only:
// the log of a topic knows nothing of them.
func (c *runner) before() (first, second []migration, err error) {
	own, err := migrations(c.Migrations)
	if err != nil {
		return nil, nil, err
	}
	first, second = own, nil
	if c.External != "" {
		external, err := withFile(nil, c.External)
		if err != nil {
			return nil, nil, err
		}
		first, second = slices.Concat(external, own), slices.Concat(own, external)
	}
	var rest []migration
	if !c.ofCase {
		rest = append(rest, migration{"the CHECK constraints let everything pass", []string{letChecksPass}})
	}
	if c.given != "" {
		rest = append(rest, migration{"the rows that are there before", []string{c.given}})
	}
	if second != nil {
		second = append(second, rest...)
	}
	return append(slices.Clone(first), rest...), second, nil
}

// existsAlready reports whether an error says that something is there already.
func existsAlready(err error) bool {
	pg, is := errors.AsType[*pgconn.PgError](err)
	return is && slices.Contains([]string{"42P06", "42P07", "42710", "42723"}, pg.Code)
}

// letChecksPass keeps the constraints, since the runtime sends rows of tables that have some as
// they come.
const letChecksPass = `DO $$
DECLARE c record;
BEGIN
	FOR c IN SELECT conrelid::regclass AS named, conname, pg_get_expr(conbin, conrelid) AS is
		FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
		WHERE contype = 'c' AND coninhcount = 0 AND relname NOT LIKE 'idem\_%' AND connamespace <> 'information_schema'::regnamespace
	LOOP
		EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I CHECK (true OR (%s))', c.named, c.conname, c.conname, c.is);
	END LOOP;
END $$`

// withFile adds the statements of a file.
func withFile(files []migration, path string) ([]migration, error) {
	content, err := os.ReadFile(path)
	return append(files, migration{path, []string{string(content)}}), err
}

// Migrate is like the function [Migrate], for a program that is not a test.
func (p *Postgres) Migrate(ctx context.Context, dir string) error {
	files, err := migrations(dir)
	if err != nil {
		return err
	}
	db, err := pgxpool.New(ctx, p.url)
	if err != nil {
		return err
	}
	defer db.Close()
	return apply(ctx, db, files)
}

type migration struct {
	path     string
	messages []string // each is sent as one; lines are those of the file
}

// migrations reads the files of dir. It is an error if there are none.
func migrations(dir string) ([]migration, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	var files []migration
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".sql" || strings.HasSuffix(entry.Name(), ".down.sql") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		messages := []string{string(content)}
		if up, ok := gooseUp(string(content)); ok {
			messages = up
		}
		files = append(files, migration{path, messages})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no .sql file", dir)
	}
	return files, nil
}

func apply(ctx context.Context, db *pgxpool.Pool, files []migration) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	// A file is sent as one message, which the server parses before it runs the first statement.
	if _, err := pg.Exec(ctx, `SET client_encoding = 'UTF8'`).ReadAll(); err != nil {
		return err
	}
	for _, file := range files {
		for _, sql := range file.messages {
			if _, err := pg.Exec(ctx, sql).ReadAll(); err != nil {
				return fmt.Errorf("%s: %w", place(file.path, sql, err), err)
			}
		}
	}
	_, err = pg.Exec(ctx, `RESET client_encoding`).ReadAll()
	return err
}

// place returns the file and, if the server reports a position, the line.
func place(path, sql string, err error) string {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || refused.Position == 0 {
		return path
	}
	// Positions count characters from 1.
	runes := []rune(sql)
	before := runes[:min(int(refused.Position)-1, len(runes))]
	line := 1 + strings.Count(string(before), "\n")
	return fmt.Sprintf("%s:%d", path, line)
}
