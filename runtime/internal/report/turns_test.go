package report_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/internal/report"
)

// told is a server in memory that notes when it was told what.
type told struct {
	began time.Time

	mu     sync.Mutex
	all    []string
	fails  int  // so many statements fail
	closes bool // the next statement ends the session
	silent bool // no connection is accepted

	now []process.Assigned // what the process reports
}

func (s *told) note(format string, args ...any) {
	s.all = append(s.all, fmt.Sprintf("%v ", time.Since(s.began))+fmt.Sprintf(format, args...))
}

// take returns what was told since the last call.
func (s *told) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.all = nil }()
	return strings.Join(s.all, ", ")
}

// set changes how the server behaves.
func (s *told) set(change func(*told)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// connect opens a connection to the server.
func (s *told) connect(ctx context.Context) (*pgx.Conn, error) {
	s.mu.Lock()
	silent := s.silent
	s.note("connect")
	s.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	here, there := net.Pipe()
	go s.serve(there)
	cfg, err := pgx.ParseConfig("postgres://u@host/d?sslmode=disable&default_query_exec_mode=simple_protocol")
	if err != nil {
		return nil, err
	}
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return here, nil }
	cfg.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"host"}, nil }
	return pgx.ConnectConfig(ctx, cfg)
}

func (s *told) serve(c net.Conn) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	b.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	for b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'}); b.Flush() == nil; b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'}) {
		m, err := b.Receive()
		q, ok := m.(*pgproto3.Query)
		if err != nil || !ok || !s.answer(b, q.String) {
			return
		}
	}
}

// answer answers a statement; it reports false to end the session.
func (s *told) answer(b *pgproto3.Backend, sql string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb, _, _ := strings.Cut(sql, " ")
	switch {
	case verb == "SELECT": // of the role, after an error
		role := pgproto3.FieldDescription{Name: []byte("current_user"), DataTypeOID: 25}
		b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{role}})
		b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("u")}})
	case s.closes:
		s.closes = false
		s.note("%s lost", verb)
		return false
	case s.fails > 0:
		s.fails--
		s.note("%s failed", verb)
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42P01", Message: "no table"})
		return true
	case strings.Contains(sql, "24 hours"):
		s.note("prune")
	default:
		s.note("%s", verb)
	}
	b.Send(&pgproto3.CommandComplete{CommandTag: []byte(verb + " 1")})
	return true
}

// writing starts a writer with a server in memory.
func writing(t *testing.T, every time.Duration) (s *told, log *transcript.Buffer, stop func()) {
	t.Helper()
	s, log = &told{began: time.Now()}, &transcript.Buffer{}
	w := &report.Writer{
		Consumer: "c", Name: "n", Version: "v", Every: every,
		Log: slog.New(slog.NewTextHandler(log, nil)), Connect: s.connect,
		Snapshot: func() process.Report {
			s.mu.Lock()
			defer s.mu.Unlock()
			return process.Report{Partitions: append([]process.Assigned{}, s.now...)}
		},
	}
	return s, log, w.Start()
}

// The row is written at once, then at a change and after each interval. Each minute there is a new
// connection, on which old rows are deleted once. At the end the row is deleted.
func TestWhenTheRowIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log, stop := writing(t, 20*time.Second)
		after := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := s.take(); got != want {
				t.Errorf("told: %s; want %s", got, want)
			}
		}
		after(0, "0s connect, 0s INSERT, 0s prune")
		after(20*time.Second-time.Millisecond, "")
		after(time.Millisecond, "20s INSERT")
		after(40*time.Second, "40s INSERT, 1m0s INSERT") // the connection is as old as it may be
		after(20*time.Second, "1m20s connect, 1m20s INSERT, 1m20s prune")
		s.set(func(s *told) { s.now = []process.Assigned{{Topic: "a"}} })
		after(time.Second, "1m20.25s INSERT")
		after(19250*time.Millisecond, "1m40.25s INSERT")
		s.set(func(s *told) { s.now, s.closes = nil, true }) // a lost connection is replaced
		after(250*time.Millisecond, "1m40.5s INSERT lost, 1m40.5s connect, 1m40.5s INSERT, 1m40.5s prune")
		stop()
		after(0, "1m40.5s DELETE")
		after(time.Hour, "")
		if log.String() != "" {
			t.Error(log)
		}
	})
}

// A write that failed is tried again after a pause that grows, also without a change, and never
// sooner. The log has one line for that and one for the end.
func TestFailedWritesAreTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log, stop := writing(t, 8*time.Second)
		defer stop()
		synctest.Wait()
		s.take()
		const fails = 9
		s.set(func(s *told) { s.fails = fails })
		time.Sleep(time.Minute)
		synctest.Wait()
		var at []time.Duration
		for line := range strings.SplitSeq(s.take(), ", ") {
			when, what, _ := strings.Cut(line, " ")
			if strings.HasPrefix(what, "INSERT") {
				d, err := time.ParseDuration(when)
				if at = append(at, d); err != nil || strings.HasSuffix(what, "failed") != (len(at) <= fails) {
					t.Errorf("write %d: %s", len(at), line)
				}
			}
		}
		if len(at) <= fails || at[0] != 8*time.Second {
			t.Fatalf("writes at %v", at)
		}
		for i, most := range []time.Duration{250, 500, 1000, 2000, 4000, 8000, 8000, 8000, 8000} {
			most *= time.Millisecond
			if pause := at[i+1] - at[i]; pause < most/2 || pause > most+250*time.Millisecond {
				t.Errorf("a pause of %v after %d failures", pause, i+1)
			}
		}
		lines := strings.Count(log.String(), "\n")
		if lines != 2 || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "level=INFO") {
			t.Errorf("%d lines: %s", lines, log)
		}
	})
}

// A process ends about a second after it was told to, though the database lets it wait.
func TestEndOfAWriterThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, log, stop := writing(t, time.Second)
		s.set(func(s *told) { s.silent, s.closes = true, true })
		time.Sleep(time.Second + time.Millisecond)
		began := time.Now()
		stop()
		if took := time.Since(began); took > time.Second || log.String() != "" {
			t.Errorf("it took %v; the log: %s", took, log)
		}
	})
}
