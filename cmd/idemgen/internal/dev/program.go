package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// goOutput is what a go command prints.
func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// moduleOf is the folder of the module that dir is in.
func moduleOf(ctx context.Context, dir string) (string, error) {
	return goOutput(ctx, dir, "list", "-m", "-f", "{{.Dir}}")
}

// build builds the service's program.
func (r *run) build(ctx context.Context) error {
	program := r.Program
	if program == "" {
		var err error
		if program, err = r.main(ctx); err != nil {
			return err
		}
	}
	_, err := goOutput(ctx, r.Dir, "build", "-o", r.binary, program)
	return err
}

// main is the only program of the module that imports the package of the spec.
func (r *run) main(ctx context.Context) (string, error) {
	own, err := goOutput(ctx, r.Dir, "list", "-e", "-f", "{{.ImportPath}}", ".")
	if err != nil {
		return "", err
	}
	list, err := goOutput(ctx, r.files.root, "list", "-e", "-f", `{{if eq .Name "main"}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./...")
	if err != nil {
		return "", err
	}
	var programs []string
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 && slices.Contains(words[1:], own) {
			programs = append(programs, words[0])
		}
	}
	switch len(programs) {
	case 0:
		return "", fmt.Errorf("no program imports %s: idemgen init writes one where there is none; or name yours with --program", own)
	case 1:
		return programs[0], nil
	}
	return "", fmt.Errorf("several programs import %s: name one with --program: %s", own, strings.Join(programs, ", "))
}

// serve runs the program until it ends by itself, or ctx ends.
func (r *run) serve(ctx context.Context) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, r.binary)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	cmd.Stdout, cmd.Stderr = r.Out, r.Out
	cmd.Env = append(os.Environ(), "KAFKA_BROKERS="+r.place.brokers, "DATABASE_URL="+r.place.database, "HTTP_ADDR="+address, "LOG_LEVEL=debug")
	if err := cmd.Start(); err != nil {
		return err
	}
	if r.starts++; r.starts == 1 {
		close(r.started)
	}
	r.say("the service was started; http://%s/readyz says whether it is well", address)
	err = cmd.Wait()
	if err == nil && ctx.Err() == nil {
		err = errors.New("exit status 0")
	}
	return err
}

// freeAddress is a free one of this machine.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
