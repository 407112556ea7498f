package report_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/report"
	"github.com/idemgen/idemgen/templates"
)

// reporter is a process that reports what a test says.
type reporter struct {
	t   *testing.T
	db  *pgxpool.Pool
	w   *report.Writer
	log transcript.Buffer
	now atomic.Pointer[process.Report]
}

// newReporter returns a process that writes only what has changed.
func newReporter(t *testing.T) *reporter {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, templates.SQL); err != nil {
		t.Fatal(err)
	}
	p := &reporter{t: t, db: idemtest.Migrated(t, filepath.Join(dir, "sql"))}
	p.now.Store(&process.Report{})
	p.w = &report.Writer{
		Consumer: "test", Name: "host, process 1", Version: "v1", Every: time.Hour, Log: slog.New(slog.NewTextHandler(&p.log, nil)),
		Snapshot: func() process.Report {
			r := *p.now.Load()
			r.Partitions = append([]process.Assigned{}, r.Partitions...)
			return r
		},
		Connect: func(ctx context.Context) (*pgx.Conn, error) {
			cfg := p.db.Config().ConnConfig
			cfg.RuntimeParams["application_name"] = "idemgen report"
			cfg.RuntimeParams["lock_timeout"] = "100"
			return pgx.ConnectConfig(ctx, cfg)
		},
	}
	return p
}

func (p *reporter) start() (stop func()) {
	p.t.Helper()
	once := sync.OnceFunc(p.w.Start())
	p.t.Cleanup(once)
	return once
}

// says sets what the process reports.
func (p *reporter) says(all ...process.Assigned) { p.now.Store(&process.Report{Partitions: all}) }

func (p *reporter) query(sql string) string {
	p.t.Helper()
	var text string
	if err := p.db.QueryRow(p.t.Context(), `SELECT (`+sql+`)::text`).Scan(&text); err != nil {
		p.t.Fatal(err)
	}
	return text
}

// until waits until the only row has a value.
func (p *reporter) until(what, sql, want string) {
	p.t.Helper()
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = p.query(`SELECT coalesce((SELECT (` + sql + `)::text FROM idem_process p WHERE p.consumer = 'test'), 'none')`); got == want {
			return
		}
	}
	p.t.Fatalf("%s: %s, want %s; the log: %s", what, got, want, p.log.String())
}

const state = `report #>> '{partitions,0,state}'`

func TestChangeIsWrittenAtOnce(t *testing.T) {
	p := newReporter(t)
	p.start()
	p.until("at the start", `report #>> '{partitions}'`, "[]")
	p.says(process.Assigned{Topic: "a", State: "READY"})
	p.until("another partition", state, "READY")
	p.says(process.Assigned{Topic: "a", State: "HALTED"})
	p.until("another state", state, "HALTED")
	p.says(process.Assigned{Topic: "a", State: "HALTED", Code: "runtime"})
	p.until("another code", `report #>> '{partitions,0,code}'`, "runtime")
	p.says(process.Assigned{Topic: "a", State: "HALTED", Code: "runtime", Reason: "why, for 3s"})
	p.until("another reason", `report #>> '{partitions,0,reason}'`, "why, for 3s")
	p.now.Store(&process.Report{Problems: []process.Problem{{Code: "joining"}}})
	p.until("a problem of the whole", `report #>> '{problems,0,code}'`, "joining")
}

// A report without a change is written when its time has come, and no more often: numbers alone
// are no change.
func TestRowIsWrittenRegularly(t *testing.T) {
	p := newReporter(t)
	p.w.Every = time.Second
	var n atomic.Int64
	p.w.Snapshot = func() process.Report {
		return process.Report{Partitions: []process.Assigned{{Topic: "a", State: "READY", Code: "waiting", Reason: fmt.Sprintf("for %ds", n.Add(1)), Applied: n.Load()}}}
	}
	idemtest.Exec(t, p.db, `CREATE TABLE writes (at timestamptz); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO writes VALUES (clock_timestamp()); RETURN NULL; END';
		CREATE TRIGGER note AFTER INSERT OR UPDATE ON idem_process FOR EACH ROW EXECUTE FUNCTION note()`)
	began := time.Now()
	p.start()
	p.until("three writes", `SELECT count(*) >= 3 FROM writes`, "true")
	if passed := time.Since(began); passed < 2*time.Second { // at the start, and behind each second
		t.Errorf("writes within %v: %s", passed, p.query(`SELECT string_agg(at::text, ' ') FROM writes`))
	}
	if got := p.query(`SELECT every = interval '1 s' AND consumer = 'test' AND name = 'host, process 1' AND version = 'v1' FROM idem_process`); got != "true" {
		t.Errorf("the row: %s", p.query(`SELECT p FROM idem_process p`))
	}
}

func TestRowIsDeletedAtTheEnd(t *testing.T) {
	p := newReporter(t)
	stop := p.start()
	p.until("there is a row", `true`, "true")
	p.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'idemgen report' AND datname = current_database()`)
	stop()
	if n := p.query(`SELECT count(*) FROM idem_process`); n != "0" {
		t.Errorf("%s rows", n)
	}
}

// Rows of processes that could not delete theirs do not stay forever.
func TestOldRowsAreDeleted(t *testing.T) {
	p := newReporter(t)
	idemtest.Exec(t, p.db, `INSERT INTO idem_process (process, consumer, name, version, seen_at, every, report)
		SELECT gen_random_uuid(), 'other', n::text, '', clock_timestamp() - n * interval '1 hour', '5 s', '{}' FROM generate_series(20, 30) n`)
	p.start()
	p.until("rows older than a day", `SELECT string_agg(name, ' ' ORDER BY name) FROM idem_process WHERE consumer = 'other' AND p.consumer = 'test'`, "20 21 22 23")
}

// Writes that fail are logged once, are retried, and hold nothing up.
func TestFailureIsLoggedOnceAndEnds(t *testing.T) {
	p := newReporter(t)
	p.w.Every = 300 * time.Millisecond
	idemtest.Exec(t, p.db, `ALTER TABLE idem_process RENAME TO away`)
	p.start()
	for end := time.Now().Add(time.Minute); p.log.String() == "" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Second) // for further lines, which must not come
	if n := strings.Count(p.log.String(), "\n"); n != 1 || !strings.Contains(p.log.String(), "level=WARN") || !strings.Contains(p.log.String(), "consumption continues") {
		t.Errorf("the log has %d lines: %s", n, p.log.String())
	}
	idemtest.Exec(t, p.db, `ALTER TABLE away RENAME TO idem_process`)
	p.until("it works again", `true`, "true")
	for end := time.Now().Add(time.Minute); !strings.Contains(p.log.String(), "level=INFO") && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if n := strings.Count(p.log.String(), "\n"); n != 2 {
		t.Errorf("the log has %d lines: %s", n, p.log.String())
	}
}

// A role that lacks a right is named, with the GRANT of all rights that reports need. The line
// says what continues: a relay consumes nothing.
func TestMissingRightIsNamed(t *testing.T) {
	for kind, want := range map[string]struct {
		relay *process.Relay
		says  string
	}{
		"service": {nil, "consumption continues, but commands show its partitions as not known"},
		"relay":   {&process.Relay{Leads: true}, "the relay sends events without that, but commands do not show the relay"},
	} {
		t.Run(kind, func(t *testing.T) {
			p := newReporter(t)
			p.now.Store(&process.Report{Relay: want.relay})
			role := p.db.Config().ConnConfig.Database + "_poor"
			idemtest.Exec(t, p.db, `CREATE ROLE `+role+`; GRANT SELECT ON idem_process TO `+role)
			t.Cleanup(func() { _, _ = p.db.Exec(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role) })
			connect := p.w.Connect
			p.w.Connect = func(ctx context.Context) (*pgx.Conn, error) {
				conn, err := connect(ctx)
				if err == nil {
					_, err = conn.Exec(ctx, `SET ROLE `+role)
				}
				return conn, err
			}
			stop := p.start()
			for end := time.Now().Add(time.Minute); p.log.String() == "" && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			stop() // it uses the role
			grant := `GRANT SELECT, INSERT, UPDATE, DELETE ON idem_process TO \"` + role + `\"`
			if got := p.log.String(); !strings.Contains(got, want.says) || !strings.Contains(got, `do="`+grant) {
				t.Errorf("the log lacks %q or %s: %s", want.says, grant, got)
			}
		})
	}
}

// Without a database nobody knows that consumption continues.
func TestNothingIsSaidOfConsumptionWithoutADatabase(t *testing.T) {
	t.Parallel()
	var log transcript.Buffer
	w := report.Writer{
		Consumer: "test", Every: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil)), Snapshot: func() process.Report { return process.Report{} },
		Connect: func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, "host="+t.TempDir()) },
	}
	stop := w.Start()
	for end := time.Now().Add(time.Minute); log.String() == "" && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	if got := log.String(); !strings.Contains(got, "because the database cannot be used") || strings.Contains(got, "consumption continues") {
		t.Errorf("the log: %s", got)
	}
}

// A connection that was lost between two writes is no failure.
func TestLostConnectionIsReplaced(t *testing.T) {
	p := newReporter(t)
	p.start()
	p.until("there is a row", `true`, "true")
	p.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'idemgen report' AND datname = current_database()`)
	p.says(process.Assigned{Topic: "a", State: "HALTED"})
	p.until("after the loss", state, "HALTED")
	if p.log.String() != "" {
		t.Errorf("the log: %s", p.log.String())
	}
}

// A process ends in time although the database does not answer.
func TestEndDoesNotWaitForTheDatabase(t *testing.T) {
	p := newReporter(t)
	connect := p.w.Connect
	p.w.Connect = func(ctx context.Context) (*pgx.Conn, error) {
		conn, err := connect(ctx)
		if err == nil {
			_, err = conn.Exec(ctx, `SET lock_timeout = 0`)
		}
		return conn, err
	}
	stop := p.start()
	p.until("there is a row", `true`, "true")
	tx, err := p.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) // which lets a process go that waits
	if _, err := tx.Exec(t.Context(), `LOCK idem_process`); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); stop() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the process has not ended")
	}
}

// Whatever a process has to say, its row is one that Postgres takes, and that is no larger than
// readers can bear.
func TestRowIsBounded(t *testing.T) {
	p := newReporter(t)
	var all []process.Assigned
	for n := range int32(1500) {
		all = append(all, process.Assigned{Topic: "b", Partition: n, State: "READY"})
	}
	odd := "a\x00b\xff" + strings.Repeat("é", 5000)
	all = append(all, process.Assigned{Topic: "c", Partition: 9, State: "HALTED", Code: "runtime", Reason: odd, Do: odd}, process.Assigned{Topic: "a", State: "READY"})
	p.now.Store(&process.Report{Partitions: all, Problems: []process.Problem{{Code: "x", Reason: odd, Do: odd}}})
	p.w.Name, p.w.Version = odd, odd
	p.start()
	p.until("partitions", `jsonb_array_length(report -> 'partitions') || ' ' || (report ->> 'more')`, "1000 502")
	const text = "a\uFFFDb\uFFFD"
	p.until("order", `SELECT string_agg(report #>> ARRAY['partitions', n::text, 'topic'], '' ORDER BY n) FROM generate_series(0, 2) n`, "cab")
	for _, at := range []string{`report #>> '{partitions,0,reason}'`, `report #>> '{partitions,0,do}'`, `report #>> '{problems,0,reason}'`, `report #>> '{problems,0,do}'`, `name`, `version`} {
		p.until(at, `SELECT left(`+at+`, 5) || length(`+at+`)`, text+"é1000")
	}
}

// Since is when a state or a problem began, even if the words of the problem change, and if the
// partition makes no progress.
func TestSinceIsWhenItBegan(t *testing.T) {
	p := newReporter(t)
	since := func(what string, at time.Time, state, code, reason string, position int64) string {
		t.Helper()
		p.says(process.Assigned{Topic: "a", State: state, Code: code, Reason: reason, Position: position, Since: at})
		p.until(what, `report #>> '{partitions,0,state}' || (report #>> '{partitions,0,reason}')`, state+reason)
		return p.query(`SELECT report #>> '{partitions,0,since}' FROM idem_process`)
	}
	p.says()
	p.start()
	ready := since("ready", time.Time{}, "READY", "", "", 3)
	if again := since("more", time.Time{}, "READY", "", "x", 4); again != ready {
		t.Errorf("READY since %s, then since %s", ready, again)
	}
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	const utc = "2026-01-01T11:00:00Z"
	if got := since("a problem", noon, "RETRYING", "retrying", "a", 4); got != utc {
		t.Errorf("a problem began at %s", got)
	}
	if got := since("in other words", noon.Add(time.Hour), "RETRYING", "retrying", "b", 4); got != utc {
		t.Errorf("in other words it began at %s", got)
	}
	if got := since("after progress", noon.Add(time.Hour), "RETRYING", "retrying", "c", 5); got != "2026-01-01T12:00:00Z" {
		t.Errorf("after progress it began at %s", got)
	}
}
