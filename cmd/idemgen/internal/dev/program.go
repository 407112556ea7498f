package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// goOutput is what a go command prints.
func goOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w%s\n%s", args[0], err, advice(problems.String()), strings.TrimSpace(problems.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// advice is what helps against what a go command prints about an incomplete module, which names
// each package that it misses.
func advice(problems string) string {
	for _, incomplete := range []string{"updates to go.mod needed", "missing go.sum entry", "no required module provides package", "module lookup disabled"} {
		if strings.Contains(problems, incomplete) {
			return ": go.mod or go.sum is not complete: run go mod tidy"
		}
	}
	return ""
}

// moduleOf is the folder of the module that dir is in, also if a workspace has other modules.
func moduleOf(ctx context.Context, dir string) (string, error) {
	goMod, err := goOutput(ctx, dir, "env", "GOMOD")
	if err == nil && filepath.Base(goMod) != "go.mod" {
		err = fmt.Errorf("%s is in no Go module", dir)
	}
	return filepath.Dir(goMod), err
}

// build builds the service's program into a file of its own: the last one may run still.
func (r *run) build(ctx context.Context) (binary string, err error) {
	r.builds++
	binary = filepath.Join(r.folder, fmt.Sprint("service", r.builds))
	_, err = goOutput(ctx, r.Dir, "build", "-o", binary, r.Program)
	return binary, err
}

// main is the program that was named, or the only one of the module that imports the package of
// the spec.
func (r *run) main(ctx context.Context) (string, error) {
	if r.Program != "" {
		name, err := goOutput(ctx, r.Dir, "list", "-e", "-f", "{{.Name}}", r.Program)
		if err == nil && name != "main" {
			err = fmt.Errorf("--program %s is not a program", r.Program)
		}
		return r.Program, err
	}
	own, err := goOutput(ctx, r.Dir, "list", "-e", "-f", "{{.ImportPath}}", ".")
	if err != nil {
		return "", err
	}
	list, err := goOutput(ctx, r.module, "list", "-e", "-f", `{{if eq .Name "main"}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./...")
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
		return "", fmt.Errorf("no program imports %s: idemgen init writes one, or name yours with --program", own)
	case 1:
		return programs[0], nil
	}
	return "", fmt.Errorf("several programs import %s: name one with --program: %s", own, strings.Join(programs, ", "))
}

// modules are the folders of the modules at work, those of go.work, that the program links.
func (r *run) modules(ctx context.Context) ([]string, error) {
	out, err := goOutput(ctx, r.Dir, "list", "-e", "-deps", "-f", "{{with .Module}}{{if .Main}}{{.Dir}}{{end}}{{end}}", r.Program)
	folders := strings.FieldsFunc(out, func(c rune) bool { return c == '\n' || c == '\r' })
	slices.Sort(folders)
	return slices.Compact(folders), err
}

// dependencies are the packages that the program links.
func (r *run) dependencies(ctx context.Context) ([]string, error) {
	deps, err := goOutput(ctx, r.Dir, "list", "-deps", r.Program)
	return strings.Fields(deps), err
}

// links reports whether the program links one of some packages of idemgen.
func (r *run) links(packages ...string) bool {
	return slices.ContainsFunc(packages, func(p string) bool { return slices.Contains(r.linked, "github.com/idemgen/idemgen/"+p) })
}

// serve runs the program until it ends by itself, or ctx ends. However dev ends, it ends, too.
func (r *run) serve(ctx context.Context, binary string) error {
	runtime.LockOSThread() // bound follows the thread that starts the program
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	cmd.Stdout, cmd.Stderr = r.Out, r.Out
	cmd.SysProcAttr = bound()
	cmd.Env = append(os.Environ(), "KAFKA_BROKERS="+r.place.brokers, "DATABASE_URL="+r.place.database, "HTTP_ADDR="+r.address, "LOG_LEVEL=debug")
	if r.place.redis != nil {
		cmd.Env = append(cmd.Env, "REDIS_URL=redis://"+r.place.redis.Addr())
	}
	if r.register(); r.place.registry != nil {
		cmd.Env = append(cmd.Env, "SCHEMA_REGISTRY_URL="+r.place.registry.URL())
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r.say("the service was started; http://%s/readyz reports its health", r.address)
	if err := cmd.Wait(); err != nil {
		return err
	}
	return errors.New("exit status 0")
}

const (
	// grace is how long a service may take to end.
	grace = 10 * time.Second
	// patience is how long records wait for a service that never says that it is ready.
	patience   = 15 * time.Second
	impatience = time.Second
)

// ready waits until the service says that it is ready, or for a while: not every program does, and
// one that did not is waited for less the next time. It reports false if the service ends.
func (r *run) ready(ctx context.Context) bool {
	for end := time.Now().Add(r.wait); time.Now().Before(end); {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.address+"/readyz", nil)
		if err != nil {
			return false
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return true
			}
		}
		if !pause(ctx, 100*time.Millisecond) {
			return false
		}
	}
	r.wait = impatience
	return true
}
