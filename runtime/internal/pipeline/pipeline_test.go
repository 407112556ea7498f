package pipeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/session"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// database is a database with a table whose rows must be unique, some of them only at the end.
func database(t *testing.T) (*pgx.Conn, func() string) {
	t.Helper()
	db := idemtest.DB(t)
	idemtest.Exec(t, db, `CREATE TABLE t (n integer PRIMARY KEY, late integer UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
	conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
	if err == nil {
		err = session.Open(t.Context(), conn, session.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn, func() (rows string) {
		if err := db.QueryRow(t.Context(), `SELECT coalesce(string_agg(n::text, ' ' ORDER BY n), '') FROM t`).Scan(&rows); err != nil {
			t.Error(err)
		}
		return rows
	}
}

func text(sql string) pipeline.Statement { return pipeline.Statement{SQL: sql} }

func of(s pipeline.Statement) pipeline.Statement { s.User = true; return s }

func insert(values string) pipeline.Statement { return text(`INSERT INTO t VALUES ` + values) }

// prepared is a statement as the driver prepares those of handlers.
func prepared(t *testing.T, conn *pgx.Conn, sql string) pipeline.Statement {
	t.Helper()
	d, err := conn.PgConn().Prepare(t.Context(), "handler's", sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Statement{Driver: d}
}

// A reply has the only row of the first statement that is not the user's, and the last tag. What
// was acknowledged is committed, unless the end of the transaction says otherwise.
func TestReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statements []pipeline.Statement
		end        string
		reply      string
		rows       string
	}{
		"nothing":      {nil, "", `"" [] 0 true`, ""},
		"one":          {[]pipeline.Statement{insert("(1)")}, "", `"INSERT 0 1" [] 1 true`, "1"},
		"rows":         {[]pipeline.Statement{insert("(1)"), text("SELECT 7, n FROM t"), text("SELECT 8")}, "", `"SELECT 1" [00000007 00000001] 3 true`, "1"},
		"the user's":   {[]pipeline.Statement{of(text("SELECT 7")), text("SELECT 8")}, "", `"SELECT 1" [00000008] 2 true`, ""},
		"transaction":  {[]pipeline.Statement{text("BEGIN"), insert("(1)")}, "COMMIT", `"COMMIT" [] 3 true`, "1"},
		"rolled back":  {[]pipeline.Statement{text("BEGIN"), insert("(1)")}, "ROLLBACK", `"ROLLBACK" [] 3 false`, ""},
		"still open":   {[]pipeline.Statement{text("BEGIN"), insert("(1)")}, "", `"INSERT 0 1" [] 2 false`, ""},
		"other ending": {[]pipeline.Statement{text("BEGIN"), insert("(1)"), text("ROLLBACK")}, "COMMIT", `"COMMIT" [] 4 true`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, rows := database(t)
			p := pipeline.New(t.Context(), conn)
			p.Expect(len(c.statements))
			p.Add(c.statements...)
			if c.end != "" {
				p.End(c.end)
			}
			r, err := p.Run()
			if got := fmt.Sprintf("%q %x %d %t", r.Tag, r.Row, r.Answered, r.Committed()); err != nil || got != c.reply {
				t.Errorf("reply %s, %v, want %s", got, err, c.reply)
			}
			if got := rows(); got != c.rows {
				t.Errorf("rows %q, want %q", got, c.rows)
			}
		})
	}
}

// An error is the protocol's, unless the user's tables and triggers may have raised it: those of a
// step have its SQL, those of a handler and of the end have none. Nothing is committed.
func TestErrorsHaveTheirOrigin(t *testing.T) {
	t.Parallel()
	const twice = `INSERT INTO t VALUES (1)`
	for name, c := range map[string]struct {
		second pipeline.Statement // after the row (1, 1); without anything a handler's
		end    string
		want   string
		done   int
	}{
		"of the protocol":    {text(twice), "", "protocol 23505", 1},
		"of a step":          {of(text(twice)), "", "write 23505 " + twice, 1},
		"of a handler":       {pipeline.Statement{}, "", "write 23505 ", 1},
		"at the end":         {insert("(2, 1)"), "", "write 23505 ", 2},
		"at COMMIT":          {insert("(2, 1)"), "COMMIT", "write 23505 ", 2},
		"of a reader":        {pipeline.Statement{SQL: "SELECT 1", Reader: refuses{}}, "", "protocol no", 1},
		"of a reader's step": {of(pipeline.Statement{SQL: "SELECT 1", Reader: refuses{}}), "", "write no SELECT 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, rows := database(t)
			if c.second.SQL == "" {
				c.second = prepared(t, conn, twice)
			}
			p := pipeline.New(t.Context(), conn)
			p.Add(insert("(1, 1)"), c.second)
			if c.end != "" {
				p.End(c.end)
			}
			r, err := p.Run()
			if got := origin(err); got != c.want || r.Answered != c.done || r.Committed() {
				t.Errorf("%s after %d, committed %t, want %s after %d", got, r.Answered, r.Committed(), c.want, c.done)
			}
			if got := rows(); got != "" && !strings.Contains(name, "reader") {
				t.Errorf("rows %q", got)
			}
		})
	}
}

// refuses is a reader that returns an error.
type refuses struct{}

func (refuses) Read(*pgconn.ResultReader) error { return errors.New("no") }

func origin(err error) string {
	what := ""
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		what = pg.Code
	} else if err != nil {
		what = err.Error()
	}
	if w, ok := errors.AsType[*verdict.Write](err); ok {
		return "write " + what + " " + w.SQL
	}
	if _, ok := errors.AsType[*verdict.Protocol](err); ok {
		return "protocol " + what
	}
	return what
}

// What follows the transaction in the same round trip fails alone, and is not sent to the server's
// tables if the transaction failed.
func TestStatementsBehindATransaction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, behind  string
		err, errBehind string
		committed      bool
		rows           string
	}{
		"both succeed":     {"(1)", "(2)", "", "", true, "1 2"},
		"the second fails": {"(1)", "(1)", "", "protocol 23505", true, "1"},
		"the first fails":  {"(1), (1)", "(2)", "protocol 23505", "", false, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, rows := database(t)
			p := pipeline.New(t.Context(), conn)
			p.Add(insert(c.first))
			r, err, errBehind := p.RunThen(insert(c.behind))
			if origin(err) != c.err || origin(errBehind) != c.errBehind || r.Committed() != c.committed {
				t.Errorf("%s, behind it %s, committed %t; want %s, %s, %t", origin(err), origin(errBehind), r.Committed(), c.err, c.errBehind, c.committed)
			}
			if got := rows(); got != c.rows {
				t.Errorf("rows %q, want %q", got, c.rows)
			}
			if err := conn.Ping(t.Context()); err != nil {
				t.Errorf("the connection is of no use: %v", err)
			}
		})
	}
}

// A connection that breaks leaves the outcome open, and says nothing of a commit.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	conn, rows := database(t)
	p := pipeline.New(t.Context(), conn)
	p.Add(insert("(1)"), text(`SELECT pg_terminate_backend(pg_backend_pid())`))
	r, err, errBehind := p.RunThen(text("SELECT 1"))
	if err == nil || errBehind != nil || r.Committed() || r.Answered != 1 {
		t.Errorf("%v, %v, committed %t, %d answers", err, errBehind, r.Committed(), r.Answered)
	}
	if got := rows(); got != "" {
		t.Errorf("rows %q", got)
	}
	p = pipeline.New(t.Context(), conn)
	p.Add(insert("(2)"))
	if r, err := p.Run(); err == nil || r.Committed() {
		t.Errorf("on a closed connection: %v, committed %t", err, r.Committed())
	}
}
