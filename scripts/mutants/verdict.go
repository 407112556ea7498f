package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// verdict is what is known of a bug after its test ran.
type verdict string

const (
	caught    verdict = "caught"
	missed    verdict = "NOT CAUGHT" // the test passed
	undecided verdict = "UNDECIDED"  // the test said nothing, or the same without the bug
	broken    verdict = "BROKEN"     // the bug cannot be planted
)

// finding is a verdict and its reason: of a bug that is caught, the test that failed.
type finding struct {
	verdict verdict
	reason  string
	tail    string // of what the test printed, if that helps
}

// text is the finding as a line, and more lines where it needs them.
func (f finding) text(retry bool) string {
	if retry {
		return "to be tried again: " + f.reason
	}
	if f.tail != "" {
		return fmt.Sprintf("%s: %s\n%s\n", f.verdict, f.reason, f.tail)
	}
	if f.verdict == caught || f.verdict == missed {
		return fmt.Sprintf("%s by %s", f.verdict, f.reason)
	}
	return fmt.Sprintf("%s: %s", f.verdict, f.reason)
}

// try plants a bug and asks its test.
func (l *lab) try(ctx context.Context, m mutant, patience time.Duration) finding {
	bin, f := l.binary(ctx, m)
	if f.verdict != caught {
		return f
	}
	if l.joint.numbers[m.name] == 0 {
		defer os.RemoveAll(filepath.Dir(bin))
	}
	limit := l.limit(m, patience)
	for n := range l.times {
		if f = l.with(ctx, m, bin, limit); f.verdict != caught {
			f.reason += count(n, l.times)
			return f
		}
	}
	if f := l.control(ctx, m, limit); f.verdict != caught {
		return f
	}
	return l.repeat(ctx, m, bin, limit)
}

// binary returns a test binary that has the bug. Its verdict is caught if there is one.
func (l *lab) binary(ctx context.Context, m mutant) (string, finding) {
	if l.joint.numbers[m.name] > 0 {
		bin, err := l.without(ctx, m.pkg)
		if err != nil {
			return "", finding{broken, "it does not compile with all joint bugs", err.Error()}
		}
		return bin, finding{verdict: caught}
	}
	dir, err := os.MkdirTemp(l.dir, "bug-")
	if err != nil {
		return "", finding{verdict: broken, reason: err.Error()}
	}
	list, err := m.overlay(l.sources, l.root, dir)
	if err != nil {
		return "", finding{verdict: broken, reason: err.Error()}
	}
	bin := filepath.Join(dir, "with.test")
	if err := l.build(ctx, m.pkg, bin, "-overlay="+list); err != nil {
		return "", finding{verdict: broken, reason: "it does not compile", tail: err.Error()}
	}
	return bin, finding{verdict: caught}
}

// with runs a bug's test with the bug.
func (l *lab) with(ctx context.Context, m mutant, bin string, limit time.Duration) finding {
	o, err := l.run(ctx, m.pkg, bin, pattern(m.test), limit, l.joint.numbers[m.name])
	if err != nil {
		return finding{verdict: broken, reason: err.Error()}
	}
	failed, ok := o.failed(m.test)
	switch {
	case o.passed(m.test):
		return finding{verdict: missed, reason: m.test}
	case !ok:
		return finding{undecided, m.test + " " + o.why(m.test), o.tail()}
	}
	return finding{verdict: caught, reason: failed}
}

// repeat runs the test with the bug once more after the control. If it passes now, it may have
// failed before because it got no time.
func (l *lab) repeat(ctx context.Context, m mutant, bin string, limit time.Duration) finding {
	f := l.with(ctx, m, bin, limit)
	if f.verdict == missed {
		return finding{verdict: undecided, reason: m.test + " failed, and did not when it was run again"}
	}
	return f
}

// again tries a bug once more. The test runs without the bug first, so that its limit follows
// how busy the machine is now.
func (l *lab) again(ctx context.Context, m mutant, patience time.Duration) finding {
	if f := l.control(ctx, m, l.limit(m, patience)); f.verdict != caught {
		return f
	}
	return l.try(ctx, m, patience)
}

// count says how often a test caught a bug before it did not.
func count(n, times int) string {
	if times == 1 {
		return ""
	}
	return fmt.Sprintf(", after it caught it %d times", n)
}

// control runs the test without the bug: if it fails then too, it was not the bug that it saw.
// Its verdict is caught if the test passes.
func (l *lab) control(ctx context.Context, m mutant, limit time.Duration) finding {
	o, err := l.runClean(ctx, m.pkg, pattern(m.test), limit)
	if err != nil {
		return finding{verdict: undecided, reason: err.Error()}
	}
	if !o.passed(m.test) {
		return finding{undecided, m.test + " does not pass without the bug", o.tail()}
	}
	return finding{verdict: caught, reason: m.test}
}
