// Command release checks what a tag of this commit would publish, without publishing anything. It
// makes the module's zip as a proxy makes it, serves it from a folder, and plays README's quick
// start with it: no clone, no replace. It does so in a module alone, in a workspace, with vendored
// dependencies, and in a vendored workspace. Then it plays an upgrade: a service of the version
// before, with rows and keys in its database, continues with this version.
//
// The version before is the last tag. As long as there is none, it is this commit under another
// version; -from names another revision.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/idemgen/idemgen/internal/proof/quickstart"
)

const path = "github.com/idemgen/idemgen" // of the module

func main() {
	only := flag.String("only", "", "play only the steps that match this `regexp`")
	from := flag.String("from", "", "`revision` that stands for the version before; by default the last tag, else HEAD")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *from, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release-check:", err)
		os.Exit(1)
	}
}

// run makes all checks, from the root of the repository.
func run(ctx context.Context, from, only string) (err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	repository, err := os.Getwd()
	if err != nil {
		return err
	}
	if changed, err := output(ctx, repository, nil, "git", "status", "--porcelain"); err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("a tag holds what is committed, and these files are not:\n%s", changed))
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	guide, err := quickstart.Parse(string(readme))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "idemgen-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	c := &check{work: work, guide: guide}
	if c.proxy, err = newProxy(ctx, repository, work); err != nil {
		return err
	}
	published, err := c.proxy.publish(ctx, guide.Version, "HEAD")
	if err != nil {
		return err
	}
	fmt.Println("the module's zip:", published)
	var steps []step
	for _, place := range quickstart.Places {
		steps = append(steps, step{"quick start, " + place.String(), func(ctx context.Context) (string, error) { return c.quickStart(ctx, place) }})
	}
	steps = append(steps, step{"upgrade", func(ctx context.Context) (string, error) { return c.upgrade(ctx, from) }})
	for _, s := range steps {
		if !chosen.MatchString(s.name) {
			continue
		}
		start := time.Now()
		found, err := s.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("ok  %6.1f s  %s: %s\n", time.Since(start).Seconds(), s.name, found)
	}
	return nil
}

// step is one check, and what it found, in words.
type step struct {
	name string
	run  func(context.Context) (string, error)
}

// check is what the steps share.
type check struct {
	work  string
	guide *quickstart.Guide
	proxy *proxy
}

// output runs a command in a folder, and returns what it prints. An error has all that it printed.
func output(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s in %s: %w\n%s%s", strings.Join(argv, " "), filepath.Base(dir), err, out, problems.String())
	}
	return strings.TrimSpace(string(out)), nil
}
