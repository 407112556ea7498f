//go:build unix

package postgres

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// holdEnv makes this test binary a process that holds a server until it is killed.
const holdEnv = "IDEMTEST_TEST_HOLD"

type held struct {
	URL, Dir               string
	Postmaster, Supervisor int
}

func TestMain(m *testing.M) {
	if os.Getenv(holdEnv) == "" {
		os.Exit(m.Run())
	}
	s, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(held{s.URL(), s.dir, s.pid, s.cmd.Process.Pid})
	select {}
}

// hold starts another process that holds a server.
func hold(t *testing.T) (*exec.Cmd, held) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var h held
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&h); err != nil {
		t.Fatal(err)
	}
	return cmd, h
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// within waits for a condition that must come true.
func within(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", limit, what)
		}
	}
}

// dead counts a zombie as dead: in a container nobody may collect it.
func dead(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.Contains(string(status), "State:\tZ")
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func TestKilledOwnerLeavesNothing(t *testing.T) {
	owner, h := hold(t)
	connect(t, h.URL) // an open connection must not keep it
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "server dead", func() bool { return dead(h.Postmaster) })
	within(t, 10*time.Second, "supervisor dead", func() bool { return dead(h.Supervisor) })
	within(t, 10*time.Second, "directory gone", func() bool { return gone(h.Dir) })
}

func TestKilledSupervisorIsSweptUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child with its parent")
	}
	_, h := hold(t)
	if err := syscall.Kill(h.Supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "server dead", func() bool { return dead(h.Postmaster) })
	start(t, Options{})
	if !gone(h.Dir) {
		t.Errorf("%s was not swept up", h.Dir)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	s := start(t, Options{})
	conn := connect(t, s.URL())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !gone(s.dir) || !dead(s.pid) {
		t.Error("the server is still there")
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("the connection still works")
	}
}

func TestServerLivesWithoutAReference(t *testing.T) {
	url := func() string {
		s, err := Start(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s.URL()
	}()
	for range 5 { // what is found dead is closed later
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	connect(t, url)
}

func TestCrashKeepsWhatWasCommitted(t *testing.T) {
	s := start(t, Options{Durable: true})
	conn := connect(t, s.URL())
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec("create table k (i int)")
	exec("insert into k values (1)")
	// A backend that computes does not notice by itself that its postmaster has died.
	busy, busyEnded := connect(t, s.URL()), make(chan error, 1)
	go func() {
		_, err := busy.Exec(t.Context(), "do $$ begin for i in 1..500000000 loop end loop; end $$")
		busyEnded <- err
	}()
	within(t, 10*time.Second, "query running", func() bool {
		var n int
		err := conn.QueryRow(t.Context(), "select count(*) from pg_stat_activity where state = 'active'").Scan(&n)
		return err == nil && n == 2
	})
	exec("begin; insert into k values (2)")
	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-busyEnded:
		if err == nil {
			t.Error("the query ended well")
		}
	case <-time.After(time.Minute):
		t.Error("the query goes on")
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the crash")
	}
	if err := s.Freeze(); err == nil {
		t.Error("a server that is down cannot freeze")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := connect(t, s.URL()).QueryRow(t.Context(), "select count(*) from k").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v; want the committed one", rows, err)
	}
}

// A standby has what its primary had, follows it, and can take its place.
func TestStandbyFollowsAndTakesOver(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	s := start(t, Options{})
	if _, err := connect(t, s.URL()).Exec(t.Context(), "create table k (i int); insert into k values (1)"); err != nil {
		t.Fatal(err)
	}
	b, err := s.Standby(t.Context(), "b", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if _, err := connect(t, s.URL()).Exec(t.Context(), "insert into k values (2)"); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, b.URL())
	within(t, 10*time.Second, "row on the standby", func() bool {
		var n int
		return conn.QueryRow(t.Context(), "select count(*) from k").Scan(&n) == nil && n == 2
	})
	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "select pg_promote()"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "insert into k values (3)"); err != nil {
		t.Errorf("after the promotion: %v", err)
	}
}

func TestFrozenServerIsSilent(t *testing.T) {
	s := start(t, Options{})
	conn := connect(t, s.URL())
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := conn.Ping(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if err := s.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, s.URL()).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSettings(t *testing.T) {
	for name, test := range map[string]struct {
		o    Options
		want map[string]string
	}{
		"fast":    {Options{}, map[string]string{"fsync": "off", "synchronous_commit": "off", "TimeZone": "UTC"}},
		"durable": {Options{Durable: true}, map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}},
		"extra":   {Options{Conf: map[string]string{"lock_timeout": "7s", "fsync": "on"}}, map[string]string{"lock_timeout": "7s", "fsync": "on"}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, start(t, test.o).URL())
			for setting, want := range test.want {
				var got string
				if err := conn.QueryRow(t.Context(), "select current_setting($1)", setting).Scan(&got); err != nil || got != want {
					t.Errorf("%s is %q, %v; want %q", setting, got, err, want)
				}
			}
		})
	}
}

func TestBadSettingShowsTheServersWords(t *testing.T) {
	s, err := Start(t.Context(), Options{Conf: map[string]string{"no_such_setting": "1"}})
	if err == nil {
		s.Close()
		t.Fatal("the server started")
	}
	if !strings.Contains(err.Error(), `"no_such_setting"`) {
		t.Errorf("got %v", err)
	}
}

func TestTCPAsksForThePassword(t *testing.T) {
	s := start(t, Options{TCP: true})
	connect(t, s.URL())
	config, err := pgx.ParseConfig(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "127.0.0.1" {
		t.Errorf("host is %s", config.Host)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		conn.Close(t.Context())
		t.Error("any password does")
	}
}
