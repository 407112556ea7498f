package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/scripts/mutants/joint"
)

// play is a run of some tests of a package: all of them, or one.
type play struct {
	dir     string
	pattern string        // of the tests' names
	took    time.Duration // without a bug
	reached map[int]bool  // the bugs whose functions it reaches
}

func (p *play) String() string { return p.dir + " " + p.pattern }

const (
	// together is how long a package's tests may take to be asked together. Those of a package that
	// takes longer are asked one by one: most bugs are reached by few of them.
	together = 12 * time.Second
	// askedFor is how long the tests may take, without a bug, that are asked of one bug.
	askedFor = 4 * time.Minute
)

// watchAll runs the tests near the bugs' packages without a bug, to see which bugs they reach.
func (r *raffle) watchAll(ctx context.Context, packages []*modulePackage, workers int) error {
	nearest := map[string][]string{} // by a package's directory
	dirs := map[string]bool{}
	for _, b := range r.bugs {
		if nearest[b.dir] == nil {
			nearest[b.dir] = near(packages, b.dir)
		}
		for _, dir := range nearest[b.dir] {
			dirs[dir] = true
		}
	}
	plays := map[string][]*play{} // by their package
	var errs []error
	each(slices.Sorted(maps.Keys(dirs)), workers, func(dir string) {
		all, err := r.watchPackage(ctx, dir)
		r.mu.Lock()
		defer r.mu.Unlock()
		plays[dir], errs = all, append(errs, err)
	})
	for _, b := range r.bugs {
		b.choose(nearest[b.dir], plays)
	}
	return errors.Join(errs...)
}

// choose chooses what is asked of a bug: first its own package, then what takes least time.
func (b *drawnBug) choose(nearest []string, plays map[string][]*play) {
	var reach []*play
	for _, dir := range nearest {
		for _, p := range plays[dir] {
			if p.reached[b.number] {
				reach = append(reach, p)
			}
		}
	}
	slices.SortStableFunc(reach, func(x, y *play) int {
		if (x.dir == b.dir) != (y.dir == b.dir) {
			return map[bool]int{true: -1, false: 1}[x.dir == b.dir]
		}
		return cmp.Compare(x.took, y.took)
	})
	for left := askedFor; len(reach) > 0 && left > 0; reach = reach[1:] {
		b.plays = append(b.plays, reach[0])
		left -= reach[0].took
	}
}

// watchPackage runs a package's tests without a bug: together, and if that takes long, one by one.
func (r *raffle) watchPackage(ctx context.Context, dir string) ([]*play, error) {
	bin, err := r.without(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s does not compile with the bugs: %w", dir, err)
	}
	all, err := r.watch(ctx, dir, bin, ".")
	if err != nil {
		fmt.Println(err)
	} else if all.took < together || len(all.reached) == 0 {
		fmt.Printf("%-44s %4.0f s, reaches %d bugs\n", dir, all.took.Seconds(), len(all.reached))
		return []*play{all}, nil
	}
	list := exec.CommandContext(ctx, bin, "-test.short", "-test.list=.")
	list.Dir = filepath.Join(r.root, dir)
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	var plays []*play
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, "Test") {
			continue
		}
		p, err := r.watch(ctx, dir, bin, "^"+name+"$")
		if err != nil {
			fmt.Println(err) // a test that is not asked makes fewer bugs caught, not more
			continue
		}
		if len(p.reached) > 0 {
			plays = append(plays, p)
		}
	}
	fmt.Printf("%-44s %4.0f s, reaches %d bugs by %d tests\n", dir, all.took.Seconds(), len(all.reached), len(plays))
	return plays, nil
}

// watch runs tests without a bug.
func (r *raffle) watch(ctx context.Context, dir, bin, pattern string) (*play, error) {
	p := &play{dir, pattern, 0, map[int]bool{}}
	f, err := os.CreateTemp(r.dir, "reached-")
	if err != nil {
		return p, err
	}
	_ = f.Close()
	start := time.Now()
	failed, why := r.ask(ctx, p, bin, 10*time.Minute, joint.Variable+"="+joint.Watch, joint.Reached+"="+f.Name())
	if failed {
		return p, fmt.Errorf("%s does not pass without a bug: %s", p, why)
	}
	p.took = time.Since(start)
	src, err := os.ReadFile(f.Name())
	for _, word := range strings.Fields(string(src)) {
		var n int
		_, _ = fmt.Sscan(word, &n)
		p.reached[n] = true
	}
	return p, err
}

var failedLine = regexp.MustCompile(`^\s*--- FAIL: (\S+)`)

// ask runs tests in short, up to the first that fails. It returns its name, or how the process
// ended before one failed.
func (r *raffle) ask(ctx context.Context, p *play, bin string, limit time.Duration, env ...string) (failed bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, limit+killAfter)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.v", "-test.short", "-test.failfast", "-test.run="+p.pattern, "-test.timeout="+limit.String())
	cmd.Dir, cmd.WaitDelay = filepath.Join(r.root, p.dir), killAfter
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	seen := make(chan string, 1)
	go func() {
		name, crash := "", ""
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if f := failedLine.FindStringSubmatch(line); f != nil && name == "" {
				name = f[1]
				cancel()
			}
			if crash == "" {
				crash = strings.TrimSpace(crashLine.FindString(line))
			}
			if err != nil {
				seen <- cmp.Or(name, crash)
				return
			}
		}
	}()
	err := cmd.Run()
	_ = in.Close()
	if name := <-seen; name != "" {
		return true, name
	}
	if err != nil {
		return true, err.Error()
	}
	return false, ""
}

// try plays a bug: it returns why it was not caught, or which test caught it. A bug is caught if
// the tests fail twice, and pass without it. If they fail without it too, as on a busy machine,
// and no others catch it, it is undecided.
func (r *raffle) try(ctx context.Context, b *drawnBug) (fate, by string) {
	if len(b.plays) == 0 {
		return "NOT REACHED by the tests near it", ""
	}
	bug, unsure := fmt.Sprintf("%s=%d", joint.Variable, b.number), ""
	for _, p := range b.plays {
		bin, err := r.without(ctx, p.dir)
		if err != nil {
			return "UNDECIDED: " + err.Error(), ""
		}
		limit := time.Minute + 5*p.took
		if failed, _ := r.ask(ctx, p, bin, limit, bug); !failed {
			continue
		}
		again, why := r.ask(ctx, p, bin, limit, bug)
		if !again {
			continue
		}
		without, other := r.ask(ctx, p, bin, limit)
		if !without {
			return "", p.dir + " " + why
		}
		unsure = fmt.Sprintf("UNDECIDED: %s fails with it, and %s without it", why, other)
	}
	if unsure != "" {
		return unsure, ""
	}
	return fmt.Sprintf("NOT CAUGHT by %d runs of tests, the last %s", len(b.plays), b.plays[len(b.plays)-1]), ""
}
