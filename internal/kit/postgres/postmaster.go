//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/internal/kit/port"
)

const startTimeout = time.Minute

// postmaster is one server process on a directory; it can end and be started again.
type postmaster struct {
	bin     Binaries
	dir     string
	account *syscall.Credential
	tcp     bool
	port    int // also names the socket
	conf    map[string]string
	env     []string // more of its environment
	cmd     *exec.Cmd
	ended   chan error // what the running process ended with
}

// settings are what differs from PostgreSQL's defaults.
func settings(durable bool, extra map[string]string) map[string]string {
	conf := map[string]string{
		"max_connections": "200",
		"timezone":        "UTC",
		"log_timezone":    "UTC", "jit": "off",
	}
	if !durable {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			conf[name] = "off"
		}
	}
	maps.Copy(conf, extra)
	return conf
}

// start runs the server and waits until it takes connections. The first start of a server
// with TCP picks the port.
func (p *postmaster) start() error {
	if p.port != 0 {
		return p.run()
	}
	if !p.tcp {
		p.port = 5432
		return p.run()
	}
	var err error
	if p.port, err = port.Free(); err != nil {
		return err
	}
	return p.run()
}

func (p *postmaster) run() error {
	data := filepath.Join(p.dir, "data")
	listen := ""
	if p.tcp {
		listen = "127.0.0.1"
	}
	args := []string{"-D", data, "-k", p.dir, "-p", strconv.Itoa(p.port), "-c", "listen_addresses=" + listen}
	for _, name := range slices.Sorted(maps.Keys(p.conf)) {
		args = append(args, "-c", name+"="+p.conf[name])
	}
	logPath := filepath.Join(p.dir, "log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := command(p.bin, p.dir, p.account, "postgres", args...)
	cmd.Env = append(cmd.Env, p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.ended = cmd, make(chan error, 1)
	go func() { p.ended <- cmd.Wait() }()
	if err := p.ready(data); err != nil {
		text, _ := os.ReadFile(logPath)
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(text)))
	}
	return nil
}

// ready waits for the line of postmaster.pid that says so: no log to parse, no connection to try.
func (p *postmaster) ready(data string) error {
	pid := strconv.Itoa(p.cmd.Process.Pid)
	timeout := time.After(startTimeout)
	for {
		content, _ := os.ReadFile(filepath.Join(data, "postmaster.pid"))
		lines := strings.Split(string(content), "\n")
		// After a crash the file of the process before is still there.
		if len(lines) >= 8 && lines[0] == pid && strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case err := <-p.ended:
			p.cmd = nil
			return fmt.Errorf("postgres ended at its start: %v", err)
		case <-timeout:
			return errors.Join(errors.New("postgres is not ready after "+startTimeout.String()), p.crash())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// pid is 0 while the server is down.
func (p *postmaster) pid() int {
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// signal freezes or thaws the whole server.
func (p *postmaster) signal(sig syscall.Signal) error {
	if p.cmd == nil {
		return errDown
	}
	return signalTree(p.pid(), sig)
}

// crash ends the server with kill -9; its data stays.
func (p *postmaster) crash() error {
	if p.cmd == nil {
		return errDown
	}
	err := killTree(p.pid())
	<-p.ended
	p.cmd = nil
	return err
}

// shutdown ends the server in order: sessions are cut, and a checkpoint is written.
func (p *postmaster) shutdown() error {
	if p.cmd == nil {
		return errDown
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-p.ended:
		p.cmd = nil
		return nil
	case <-time.After(startTimeout):
		return errors.Join(errors.New("postgres does not end"), p.crash())
	}
}

// restart starts a crashed server. Its backends may take a moment to let go of the shared
// memory, and until then the new one refuses.
func (p *postmaster) restart() error {
	if p.cmd != nil {
		return errors.New("the server runs")
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := p.start()
		if err == nil || time.Now().After(deadline) || !strings.Contains(err.Error(), "shared memory block") {
			return err
		}
	}
}

// stop ends the server without a checkpoint: its directory goes next.
func (p *postmaster) stop() {
	if p.cmd == nil {
		return
	}
	signalTree(p.pid(), syscall.SIGCONT)
	p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.ended:
		p.cmd = nil
	case <-time.After(3 * time.Second):
		p.crash()
	}
}

var errDown = errors.New("the server is down")
