package session_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// opened is a connection whose session is configured.
func opened(t *testing.T, db *pgxpool.Pool, o session.Options) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	rig.Do(t, func() error { return session.Open(t.Context(), conn, o) })
	return conn
}

// A connection that leads to another session, or whose session was changed, is noticed when it is
// verified; whoever compares two connections notices it on either, and leaves no transaction open.
func TestSessionThatIsNotTheOneThatWasOpened(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	o := session.Options{Settings: session.Relied(session.Limits{})}
	a, b := opened(t, db, o), opened(t, db, o)
	exec := func(on *pgx.Conn, sql string, args ...any) {
		t.Helper()
		if _, err := on.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(of *pgx.Conn) (mark string) {
		t.Helper()
		rig.Do(t, func() error { return of.QueryRow(t.Context(), `SELECT current_setting('idem.session')`).Scan(&mark) })
		return mark
	}
	own := session.Of(a.PgConn())
	verify := func(on *pgx.Conn) error { return own.Verify(t.Context(), on) }
	probe := func() error { return session.Probe(t.Context(), a, b) }
	if err := errors.Join(verify(a), probe()); err != nil {
		t.Fatal(err)
	}
	rig.Want(t, "transaction", b.PgConn().TxStatus(), 'I')
	if mark(a) == mark(b) {
		t.Error("two sessions have one mark")
	}

	exec(a, `SET DateStyle = German`)
	rig.WantText(t, verify(a), `the setting DateStyle was set to "ISO, MDY", but is "German, `)
	exec(a, `SET IntervalStyle = iso_8601`)
	rig.WantText(t, verify(a), "the setting ", "pooler, or a trigger")
	foreign := mark(a)
	for _, on := range []*pgx.Conn{a, b} { // the mark counts more than other settings
		before := mark(on)
		exec(on, `SELECT set_config('idem.session', 'x', false)`)
		for range 20 { // settings are compared in any order
			lost := rig.WantError[*session.Error](t, session.Of(on.PgConn()).Verify(t.Context(), on))
			rig.Want(t, "reason", lost.Reason, session.Transaction)
		}
		exec(on, `SELECT set_config('idem.session', $1, false)`, before)
		exec(a, `SET DateStyle = 'ISO, MDY'; SET IntervalStyle = postgres`, pgx.QueryExecModeSimpleProtocol)
	}
	before := mark(b)
	exec(b, `SELECT set_config('idem.session', $1, false)`, foreign)
	rig.Want(t, "reason on another backend", rig.WantError[*session.Error](t, verify(b)).Reason, session.Transaction)
	rig.Want(t, "reason of the second", rig.WantError[*session.Error](t, probe()).Reason, session.Transaction)
	exec(b, `ROLLBACK`)
	exec(b, `SELECT set_config('idem.session', $1, false)`, before)
	rig.Do(t, probe)
	exec(a, `SELECT set_config('idem.session', 'x', false)`)
	rig.Want(t, "reason of the first", rig.WantError[*session.Error](t, probe()).Reason, session.Transaction)
}

// A hook runs before the settings are made, and its error ends the session's opening. Statements
// are counted up to the first that the server refuses.
func TestOpeningStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var hooked []string
	o := session.Options{Settings: session.Relied(session.Limits{})}
	o.Hook = func(ctx context.Context, conn *pgx.Conn) error {
		hooked = append(hooked, "hook")
		_, err := conn.Exec(ctx, `SET DateStyle = German`)
		return err
	}
	conn := opened(t, db, o)
	rig.Want(t, "calls", len(hooked), 1)
	rig.Want(t, "role", session.Of(conn.PgConn()).Role(), db.Config().ConnConfig.User)
	rig.Want(t, "role of no session", (*session.Session)(nil).Role(), "")
	st := func(sql string) session.Statement { return session.NewStatement("x", sql) }
	for want, all := range [][]session.Statement{
		{st(`SELECT nonsense`), st(`SELECT 1`)},
		{st(`SELECT 2`), st(`SELECT nonsense`), st(`SELECT 3`)},
		{st(`SELECT 4`), st(`SELECT 5`)},
	} {
		n, err := session.Of(conn.PgConn()).Prepare(t.Context(), conn.PgConn(), all)
		if n != want || (err == nil) != (want == len(all)) {
			t.Errorf("%d of %d statements, %v", n, len(all), err)
		}
	}
	down := errors.New("down")
	o.Hook = func(context.Context, *pgx.Conn) error { return down }
	if err := session.Open(t.Context(), conn, o); !errors.Is(err, down) {
		t.Errorf("the hook failed: %v", err)
	}
	rig.Do(t, func() error { return conn.Close(t.Context()) })
	if err := session.Open(t.Context(), conn, session.Options{}); err == nil {
		t.Error("a closed connection has a session")
	}
}

// A server that takes no writes is not connected to, with the reason; another address is tried
// if it is a standby.
func TestServerThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	standby := pgconn.ErrReadOnlyConnection.Error()
	for name, c := range map[string]struct {
		standby, readOnly, says string
	}{
		"a primary":         {"f", "off", ""},
		"a standby":         {"t", "on", standby},
		"read-only":         {"f", "on", "default_transaction_read_only is on"},
		"a writing standby": {"t", "off", standby},
		"no answer":         {"", "", "57P01"},
	} {
		answer := []pgproto3.BackendMessage{
			&pgproto3.ParseComplete{}, &pgproto3.BindComplete{},
			&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("a")}, {Name: []byte("b")}}},
			&pgproto3.DataRow{Values: [][]byte{[]byte(c.standby), []byte(c.readOnly)}},
			&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, &pgproto3.ReadyForQuery{TxStatus: 'I'},
		}
		if c.standby == "" {
			answer = nil
		}
		cfg := &pgx.ConnConfig{Config: pgconn.Config{RuntimeParams: map[string]string{"client_encoding": "LATIN1"}}}
		session.Configure(cfg)
		rig.Want(t, "encoding", cfg.RuntimeParams["client_encoding"], "UTF8")
		if err := cfg.ValidateConnect(t.Context(), connected(t, answer)); c.says != "" {
			rig.WantText(t, err, c.says)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A commit that was not confirmed by a standby is known, once, on its connection; other notices
// say nothing of it, and the service's own handler hears all.
func TestCommitThatWasNotConfirmed(t *testing.T) {
	t.Parallel()
	conn := connected(t, nil)
	lost, heard := 0, 0
	for _, cfg := range []*pgconn.Config{{OnNotice: func(*pgconn.PgConn, *pgconn.Notice) { heard++ }}, {}} {
		session.WatchReplication(cfg, func() { lost++ })
		cfg.OnNotice(conn, &pgconn.Notice{Routine: "other"})
		if session.Unreplicated(conn) {
			t.Error("another notice counts")
		}
		cfg.OnNotice(conn, &pgconn.Notice{Routine: "SyncRepWaitForLSN"})
		if first, second := session.Unreplicated(conn), session.Unreplicated(conn); !first || second {
			t.Errorf("a commit was not confirmed: %t, then %t", first, second)
		}
	}
	rig.Want(t, "lost", lost, 2)
	rig.Want(t, "heard", heard, 2)
}

// What a pooler says of a parameter that it does not know is explained; other errors stay.
func TestErrorsThatAreExplained(t *testing.T) {
	t.Parallel()
	const unknown = "unsupported startup parameter: search_path"
	for err, explained := range map[error]bool{
		&pgconn.PgError{Code: "08P01", Message: unknown}:    true,
		&pgconn.PgError{Code: "08P02", Message: unknown}:    false,
		&pgconn.PgError{Code: "08P01", Message: "nonsense"}: false,
		errors.New(unknown): false,
	} {
		got := session.Explain(err)
		if _, is := errors.AsType[*session.Error](got); is != explained || !explained && got != err {
			t.Errorf("%v: %v", err, got)
		} else if is {
			rig.WantText(t, got, "ignore_startup_parameters", unknown)
		}
	}
	const changed = `invalid input syntax for type integer: "idemgen: setting DateStyle is changed"`
	for _, c := range []struct{ code, message, want string }{
		{"22P02", changed, "DateStyle"}, {"22P03", changed, ""}, {"22P02", `"x"`, ""},
		{"22P02", `"idemgen: setting DateStyle`, ""}, {"22P02", `"DateStyle is changed"`, ""},
	} {
		rig.Want(t, c.message, session.Changed(&pgconn.PgError{Code: c.code, Message: c.message}), c.want)
	}
	cause := errors.New("cause")
	if err := (&session.Error{Reason: "why", Err: cause}); err.Error() != "why: cause" || !errors.Is(err, cause) {
		t.Error(err)
	}
	rig.Want(t, "text without a cause", (&session.Error{Reason: "why"}).Error(), "why")
}

// The parameters of a connection string are what the server would read from its start-up packet.
func TestParametersOfAConnectionString(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]map[string]string{
		``:                             {},
		`-c work_mem=7MB`:              {"work_mem": "7MB"},
		`-cwork_mem=7MB -c  a.b=1`:     {"work_mem": "7MB", "a.b": "1"},
		`--work-mem=7MB`:               {"work_mem": "7MB"},
		"\t--a.b=c\\ d\\\\\n-c e=f=g ": {"a.b": `c d\`, "e": "f=g"},
		`-c`:                           {},
		`-c a.b`:                       {},
		`-d 5 -c a.b=1`:                {"a.b": "1"},
		`--a.b=`:                       {"a.b": ""},
		`--search_path=x`:              {"search_path": "x"},
	} {
		startup := map[string]string{"search_path": "public", "options": options, "replication": "database"}
		before := maps.Clone(startup)
		got := session.Parameters(startup)
		if _, ok := want["search_path"]; !ok {
			want["search_path"] = "public"
		}
		if !maps.Equal(got, want) || !maps.Equal(startup, before) {
			t.Errorf("%q: %v, want %v", options, got, want)
		}
	}
	settings := session.With(session.Relied(session.Limits{}), map[string]string{"DateStyle": "SQL"})
	for i, s := range session.Relied(session.Limits{}) {
		if s.Name == "DateStyle" {
			s.Value = "SQL"
		}
		rig.Want(t, "setting", settings[i], s)
	}
}
