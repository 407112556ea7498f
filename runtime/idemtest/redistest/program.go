//go:build unix

package redistest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/idemgen/idemgen/runtime/idemtest/internal/postgres"
)

// program is a server's process, and those that follow it after a crash.
type program struct {
	dir  string
	argv []string

	process *os.Process
	done    chan struct{} // closed when the process has ended
}

var errDown = errors.New("the server is down")

// start runs the program in a process that ends with this one.
func (p *program) start() error {
	if p.process != nil && !p.ended() {
		return errors.New("the server runs")
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = postgres.Guarded(nil)
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the child is bound to the thread that starts it
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
		close(done)
	}()
	if err := <-started; err != nil {
		return err
	}
	p.process, p.done = cmd.Process, done
	return nil
}

// ended reports whether the process has ended.
func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *program) signal(sig syscall.Signal) error {
	if p.process == nil || p.ended() {
		return errDown
	}
	return p.process.Signal(sig)
}

func (p *program) freeze() error { return p.signal(syscall.SIGSTOP) }

func (p *program) thaw() error { return p.signal(syscall.SIGCONT) }

// kill ends the process, and waits until it is gone.
func (p *program) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

func (p *program) log() string {
	text, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// busPort is how far from its port a server of a Cluster listens for the others.
const busPort = 10000

// freePort returns a port that is free now, and whose bus port is.
func freePort() (int, error) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port > 1<<16-1-busPort {
			continue
		}
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+busPort)); err == nil {
			return port, l.Close()
		}
	}
}
