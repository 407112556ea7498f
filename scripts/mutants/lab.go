package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/scripts/mutants/joint"
	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// lab builds and runs tests, with a bug and without.
type lab struct {
	root  string // of the module
	dir   string // of what is built
	times int    // how often a bug's test runs

	sources *plant.Sources
	build   func(ctx context.Context, pkg, bin string, args ...string) error
	joint   jointBugs

	patience []time.Duration // how much longer than its share it may run: at first, and at each further try
	clean    sync.Map        // func() built, by package
	took     sync.Map        // time.Duration of a test without a bug, when it passed last, by package and name
}

func newLab(root string, times int, patience ...time.Duration) (*lab, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	l := &lab{root: root, dir: dir, times: max(times, 1), patience: patience}
	l.sources, l.build = plant.Read(root), l.compile
	return l, err
}

// key is a test's key in took.
func key(pkg, test string) string { return pkg + " " + test }

// share is how many times as long as without its bug a test may take.
const share = 20

// limit is how long a bug's test may run. It follows the time that the test took without the
// bug, so that a machine that is busy, and a test that is slow, get the time they need.
func (l *lab) limit(m mutant, patience time.Duration) time.Duration {
	if took, ok := l.took.Load(key(m.pkg, m.test)); ok {
		patience += share * took.(time.Duration)
	}
	return patience
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// compile makes a package's test binary. Without optimizations it takes a third of the time, and
// without symbols for debuggers half of that.
func (l *lab) compile(ctx context.Context, pkg, bin string, args ...string) error {
	args = slices.Concat([]string{
		"test", "-c", "-vet=off", "-gcflags=github.com/idemgen/idemgen/...=-N -l",
		"-ldflags=-s -w", "-o", bin,
	}, args, []string{pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// built is a test binary without a bug.
type built struct {
	bin string
	err error
}

// without returns a package's test binary, which contains all joint bugs. It behaves as without
// them unless the environment chooses one.
func (l *lab) without(ctx context.Context, pkg string) (string, error) {
	once, _ := l.clean.LoadOrStore(pkg, sync.OnceValue(func() built {
		bin := filepath.Join(l.dir, strings.NewReplacer("/", "_", ".", "").Replace(pkg)+".test")
		return built{bin, l.build(ctx, pkg, bin, l.joint.flags()...)}
	}))
	b := once.(func() built)()
	return b.bin, b.err
}

// killAfter is how much longer than its limit a test binary may take.
const killAfter = 30 * time.Second

// runClean runs tests of a package without a bug. It notes how long those took that passed.
func (l *lab) runClean(ctx context.Context, pkg, pattern string, limit time.Duration) (outcome, error) {
	bin, err := l.without(ctx, pkg)
	if err != nil {
		return outcome{}, fmt.Errorf("%s does not compile without any bug: %w", pkg, err)
	}
	o, err := l.run(ctx, pkg, bin, pattern, limit, 0)
	for name, took := range o.took {
		if o.results[name] == "PASS" {
			l.took.Store(key(pkg, name), took)
		}
	}
	return o, err
}

// run runs tests of a package's binary, with the joint bug of that number. An error says that
// nothing ran.
func (l *lab) run(ctx context.Context, pkg, bin, pattern string, limit time.Duration, bug int) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+killAfter)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.v", "-test.run="+pattern, "-test.timeout="+limit.String())
	cmd.Dir = filepath.Join(l.root, pkg)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", joint.Variable, bug))
	cmd.WaitDelay = killAfter
	out, err := cmd.CombinedOutput()
	o := read(string(out))
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return o, err
	}
	if ctx.Err() != nil && o.silent == "" {
		o.silent = "was killed"
	}
	return o, nil
}

// pattern selects exactly one test, by its full name.
func pattern(test string) string {
	var parts []string
	for part := range strings.SplitSeq(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(parts, "/")
}
