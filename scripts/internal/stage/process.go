package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is one process of the service.
type Process struct {
	Log *Log

	cmd    *exec.Cmd
	done   chan struct{}
	err    error
	at     time.Time                 // of the end
	killed atomic.Pointer[time.Time] // when that was done first
}

// Start starts a program, or a program by way of others such as a shell, with env added to
// this process's environment. It is killed when ctx ends and, on Linux, with this process.
func Start(ctx context.Context, env []string, argv ...string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), Log: &Log{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.Log, p.Log
	p.cmd.SysProcAttr = bound()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the child is bound to the thread that starts it
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		p.at = time.Now()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ended reports whether the process is over.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// EndedAt is when the process ended; zero while it lives.
func (p *Process) EndedAt() time.Time {
	if !p.ended() {
		return time.Time{}
	}
	return p.at
}

// KilledAt is when the process was first killed; when it ended, if nobody killed it; zero while it
// lives. On a busy machine its end is seen later.
func (p *Process) KilledAt() time.Time {
	at := p.EndedAt()
	if killed := p.killed.Load(); killed != nil && !at.IsZero() {
		return *killed
	}
	return at
}

// Kill is kill -9, also of a frozen process: nothing is finished, nothing is said.
func (p *Process) Kill() error {
	now := time.Now()
	p.killed.CompareAndSwap(nil, &now)
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}

// Freeze stops the process where it is; Thaw lets it go on.
func (p *Process) Freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Signal sends the process any other signal.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Term asks the process to end.
func (p *Process) Term() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

// Stop asks the process to end and demands that it does so in time and without an error.
func (p *Process) Stop() error {
	if err := p.Term(); err != nil {
		return errors.Join(err, p.Dead())
	}
	return p.Finish()
}

// Finish is Stop for a process that was asked already.
func (p *Process) Finish() error {
	if !p.Wait(20 * time.Second) {
		return errors.Join(errors.New("a process did not end in 20 s after SIGTERM"), p.Kill())
	}
	if p.err != nil {
		return fmt.Errorf("a process ended with %w; its last lines:\n%s", p.err, p.Log)
	}
	return nil
}

// Wait waits until the process ends, and reports false if it does not in time.
func (p *Process) Wait(patience time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(patience):
		return false
	}
}

// Err is what a process that is over ended with.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Owns reports whether the process has ever taken a partition over.
func (p *Process) Owns() bool { return p.Log.has("partition taken over") || p.Log.has("state=READY") }

// Works waits until the process owns a partition: to kill one that still joins the group
// would show nothing.
func (p *Process) Works(ctx context.Context) error {
	err := Until(ctx, 30*time.Second, func() (bool, error) { return p.Owns(), p.Dead() })
	if errors.Is(err, ErrTimeout) {
		return fmt.Errorf("a process owns no partition after 30 s; its last lines:\n%s", p.Log)
	}
	return err
}

// Dead is an error if the process ended although nobody asked it to.
func (p *Process) Dead() error {
	if !p.ended() {
		return nil
	}
	return fmt.Errorf("a process ended by itself (%v); its last lines:\n%s", p.err, p.Log)
}
