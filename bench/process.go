package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// program is a contender's process. It prints its measurement, a line of JSON, and ends when its
// standard input does.
type program struct {
	cmd  *exec.Cmd
	in   io.Closer
	out  *json.Decoder
	said strings.Builder // on standard error
}

func launch(ctx context.Context, file string, args, env []string) (*program, error) {
	p := &program{cmd: exec.CommandContext(ctx, file, args...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, json.NewDecoder(out)
	return p, p.cmd.Start()
}

// end waits for the process after its standard input was closed. err is what went wrong before.
func (p *program) end(ctx context.Context, err error) error {
	if err = errors.Join(err, p.cmd.Wait(), ctx.Err()); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(p.cmd.Args, " "), err, p.said.String())
	}
	return nil
}

// memory is one of the figures that Linux has of the process' memory: VmHWM, the high-water mark
// of its resident memory, or VmRSS, what is resident now.
func (p *program) memory(name string) (mib float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory is measured on Linux only: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc has no %s", name)
}

// consume runs a program until it has consumed its log and said so, and its memory is read.
func consume(ctx context.Context, file string, args, env []string) (m measurement, err error) {
	p, err := launch(ctx, file, args, env)
	if err != nil {
		return m, err
	}
	err = p.out.Decode(&m)
	if err == nil {
		m.PeakMiB, err = p.memory("VmHWM")
	}
	if err := p.end(ctx, errors.Join(err, p.in.Close())); err != nil {
		return m, err
	}
	m.CPU = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	return m, nil
}
