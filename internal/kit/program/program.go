//go:build unix

package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/idemgen/idemgen/internal/kit/postgres"
)

// Program is a server's process, and those that follow it after a crash.
type Program struct {
	Dir  string // where it works, and writes its log
	Argv []string
	Env  []string // added to the environment

	process *os.Process
	done    chan struct{} // closed when the process has ended
}

var errDown = errors.New("the server is down")

// Start runs the program in a process that ends with this one.
func (p *Program) Start() error {
	if p.process != nil && !p.Ended() {
		return errors.New("the server runs")
	}
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Dir
	if p.Env != nil {
		cmd.Env = append(os.Environ(), p.Env...)
	}
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = postgres.Bound()
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

// Ended reports whether the process has ended.
func (p *Program) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *Program) signal(sig syscall.Signal) error {
	if p.process == nil || p.Ended() {
		return errDown
	}
	return p.process.Signal(sig)
}

// Freeze stops the process where it is.
func (p *Program) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Program) Thaw() error { return p.signal(syscall.SIGCONT) }

// Kill ends the process with kill -9, and waits until it is gone.
func (p *Program) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

func (p *Program) logFile() string { return filepath.Join(p.Dir, "log") }

// Log is what the program wrote.
func (p *Program) Log() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}
