package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// process is a way at work.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer // the process ends when this does
	log  string
	done chan struct{}
}

func launch(ctx context.Context, program, log string, env ...string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{cmd: exec.CommandContext(ctx, program), log: log, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait() // how it ended does not matter
		close(p.done)
	}()
	return p, nil
}

func (p *process) ended() bool {
	return is(p.done)
}

// kill is kill -9, of a frozen process, too.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) thaw() error   { return p.cmd.Process.Signal(syscall.SIGCONT) }

// stop asks the process to end, as before a deployment, and waits for it.
func (p *process) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *process) lastLines() string { return lastLines(p.log) }
