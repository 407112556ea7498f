package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// consume runs a program until it has consumed its log. It says so in a line of JSON, its memory
// is read, and its standard input is closed, so that it ends.
func consume(ctx context.Context, file string, args, env []string) (m measurement, err error) {
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return m, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m, err
	}
	if err := cmd.Start(); err != nil {
		return m, err
	}
	err = json.NewDecoder(out).Decode(&m)
	if err == nil {
		m.PeakMiB, err = peakMiB(cmd.Process.Pid)
	}
	if err = errors.Join(err, in.Close(), cmd.Wait(), ctx.Err()); err != nil {
		return m, fmt.Errorf("%s %s: %w\n%s", file, strings.Join(args, " "), err, said.String())
	}
	m.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return m, nil
}

// peakMiB is the high-water mark of a process' resident memory, as Linux counts it.
func peakMiB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("peak memory is measured on Linux only: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("/proc has no VmHWM")
}
