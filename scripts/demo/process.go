package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is one process of the generated service.
type process struct {
	cmd  *exec.Cmd
	log  *tail
	done chan struct{}
	err  error
}

func startProcess(ctx context.Context, s *stage) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, s.service), log: &tail{}, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "KAFKA_BROKERS="+s.broker.Addr(), "DATABASE_URL="+s.postgres.URL())
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill is kill -9: nothing is finished, nothing is said.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}

// stop asks the process to end and demands that it does so in time and without an error.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return errors.Join(err, p.dead())
	}
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		return errors.Join(errors.New("a process did not end in 20 s after SIGTERM"), p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("a process ended with %w; its last lines:\n%s", p.err, p.log)
	}
	return nil
}

// works waits until the process owns a partition: to kill one that still joins the group
// would show nothing.
func (p *process) works(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for !p.log.working() {
		if err := p.dead(); err != nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("a process owns no partition after 30 s; its last lines:\n%s", p.log)
		}
	}
	return nil
}

// dead is an error if the process ended although nobody asked it to.
func (p *process) dead() error {
	select {
	case <-p.done:
		return fmt.Errorf("a process ended by itself (%v); its last lines:\n%s", p.err, p.log)
	default:
		return nil
	}
}

// tail keeps the last bytes that were written to it, and whether there was a line that
// says that the process owns a partition.
type tail struct {
	mu    sync.Mutex
	buf   []byte
	works bool
}

const takenOver = "partition taken over"

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	t.works = t.works || bytes.Contains(t.buf, []byte(takenOver))
	t.buf = t.buf[max(0, len(t.buf)-tailBytes):]
	return len(b), nil
}

func (t *tail) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.works
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
