//go:build unix

package pgbouncer

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

const (
	port         = 6432
	startTimeout = 20 * time.Second
)

// Bouncer is a PgBouncer that runs until its test ends.
type Bouncer struct {
	t    testing.TB
	db   *pgxpool.Config
	dir  string
	conf map[string]string

	process *os.Process
}

// Start runs a PgBouncer before the server that db leads to. conf is what differs from its
// defaults, as in the section [pgbouncer] of its file: pool_mode, ignore_startup_parameters.
// Every client is let in, and is db's user on the server.
func Start(t testing.TB, db *pgxpool.Pool, conf map[string]string) *Bouncer {
	t.Helper()
	p, err := locate(t.Context())
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	account := postgres.Account()
	dir, err := os.MkdirTemp("", "idemtest-bouncer-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = postgres.Give(dir, account)
	}
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	b := &Bouncer{t: t, db: db.Config(), dir: dir, conf: map[string]string{
		"listen_addr": "", "listen_port": strconv.Itoa(port), "unix_socket_dir": dir, "auth_type": "any", "logfile": filepath.Join(dir, "log"),
	}}
	maps.Copy(b.conf, conf)
	b.write(account)
	ended := b.run(p, account)
	b.ready(ended)
	return b
}

// write writes the configuration file.
func (b *Bouncer) write(account *syscall.Credential) {
	b.t.Helper()
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	server := b.db.ConnConfig
	var text strings.Builder
	fmt.Fprintf(&text, "[databases]\n* = host=%s port=%d user=%s", quote(server.Host), server.Port, quote(server.User))
	if server.Password != "" {
		fmt.Fprintf(&text, " password=%s", quote(server.Password))
	}
	text.WriteString("\n\n[pgbouncer]\n")
	for _, name := range slices.Sorted(maps.Keys(b.conf)) {
		fmt.Fprintf(&text, "%s = %s\n", name, b.conf[name])
	}
	path := b.file()
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	if err := postgres.Give(path, account); err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
}

func (b *Bouncer) file() string { return filepath.Join(b.dir, "pgbouncer.ini") }

// run starts the program, under the servers' account, since it refuses root. It ends with
// the test, and with this process.
func (b *Bouncer) run(p program, account *syscall.Credential) (ended chan error) {
	b.t.Helper()
	cmd := exec.Command(p.path, b.file())
	cmd.Dir = b.dir
	cmd.Env = p.env()
	cmd.SysProcAttr = postgres.Guarded(account)
	started := make(chan error, 1)
	ended = make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the child is bound to the thread that starts it
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		b.t.Fatalf("idemtest: start PgBouncer: %v", err)
	}
	b.process = cmd.Process
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		if b.t.Failed() {
			text, _ := os.ReadFile(filepath.Join(b.dir, "log"))
			b.t.Logf("PgBouncer's log:\n%s", text)
		}
	})
	return ended
}

// ready waits until it takes connections.
func (b *Bouncer) ready(ended chan error) {
	b.t.Helper()
	socket := filepath.Join(b.dir, ".s.PGSQL."+strconv.Itoa(port))
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(filepath.Join(b.dir, "log"))
			b.t.Fatalf("idemtest: PgBouncer ended at its start: %v\n%s", err, text)
		default:
		}
	}
	b.t.Fatalf("idemtest: PgBouncer takes no connections after %v", startTimeout)
}

// Pool returns a pool that leads through the PgBouncer to the database that db led to. edit
// may change its configuration; nil changes nothing.
func (b *Bouncer) Pool(edit func(*pgxpool.Config)) *pgxpool.Pool {
	b.t.Helper()
	cfg := b.db.Copy()
	cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.Fallbacks, cfg.ConnConfig.TLSConfig = b.dir, port, nil, nil
	if edit != nil {
		edit(cfg)
	}
	pool, err := pgxpool.NewWithConfig(b.t.Context(), cfg)
	if err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	b.t.Cleanup(pool.Close)
	return pool
}

// Reload gives a running PgBouncer other settings, such as another pool_mode.
func (b *Bouncer) Reload(conf map[string]string) {
	b.t.Helper()
	maps.Copy(b.conf, conf)
	b.write(postgres.Account())
	before := b.reloads()
	if err := b.process.Signal(syscall.SIGHUP); err != nil {
		b.t.Fatalf("idemtest: reload PgBouncer: %v", err)
	}
	for end := time.Now().Add(startTimeout); b.reloads() == before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("idemtest: PgBouncer did not reload within %v", startTimeout)
		}
	}
}

// reloads counts the reloads that the log tells of; each is complete before the next query
// of any client.
func (b *Bouncer) reloads() int {
	text, err := os.ReadFile(filepath.Join(b.dir, "log"))
	if err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	return strings.Count(string(text), "got SIGHUP")
}
