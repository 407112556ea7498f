package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const victim = "./scripts/mutants/testdata/victim"

// doubling is a bug of the victim's Double, whose body becomes another.
func doubling(body, test string) mutant {
	return mutant{test, in(victim, "Double").Replace(`return 2 * n`, body), victim, test}
}

func testLab(t *testing.T, times int, patience ...time.Duration) *lab {
	t.Helper()
	l, err := newLab(filepath.Join("..", ".."), times, patience...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	l.build = func(_ context.Context, pkg, bin string, args ...string) error {
		return builds.link(l, pkg, bin, args)
	}
	return l
}

// A bug is caught by what its test says, and by nothing else.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	l := testLab(t, 1)
	half := mutant{"half", in(victim, "Half").Replace(`n / 2`, `n / 3`), victim, "TestDouble"}
	gone := mutant{"gone", in(victim, "Triple").Drop(`return _`), victim, "TestDouble"}
	for name, test := range map[string]struct {
		bug    mutant
		want   verdict
		reason string
	}{
		"a test fails":                     {doubling("return 3 * n", "TestDouble"), caught, "TestDouble/two"},
		"a test within a test fails":       {doubling("return 3 * n", "TestDouble/two"), caught, "TestDouble/two"},
		"nothing notices":                  {half, missed, "TestDouble"},
		"the case that is asked passes":    {doubling("return 3 * n", "TestDouble/zero"), missed, "TestDouble/zero"},
		"the test hangs":                   {doubling("select {}", "TestDouble"), undecided, "timed out"},
		"the test hangs after its message": {doubling("return 3 * n", "TestThatHangsAfterItsMessage"), undecided, "timed out"},
		"the test panics":                  {doubling("panic(n)", "TestDouble"), undecided, "crashed"},
		"the process ends":                 {doubling("syscall.Exit(1); return n", "TestDouble"), undecided, "did not run"},
		"the test fails without a message": {doubling("return 3 * n", "TestThatSaysNothing"), undecided, "without a message"},
		"the test fails without the bug":   {doubling("return 3 * n", "TestThatFailsWithoutABug"), undecided, "without the bug"},
		"the test is skipped":              {doubling("return 3 * n", "TestThatSkips"), undecided, "skipped"},
		"there is no test of the name":     {doubling("return 3 * n", "TestNothing"), undecided, "did not run"},
		"the bug does not compile":         {doubling("return nothing", "TestDouble"), broken, "compile"},
		"the bug has no place":             {gone, broken, "no Triple"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if test.reason == "timed out" {
				limit = time.Second
			}
			f := l.try(t.Context(), test.bug, limit)
			if f.verdict != test.want || !strings.Contains(f.reason, test.reason) {
				t.Errorf("got %s: %s, want %s: %s\n%s", f.verdict, f.reason, test.want, test.reason, f.tail)
			}
		})
	}
}

// tryAllOf tries bugs, and writes no record.
func (l *lab) tryAllOf(t *testing.T, workers int, bugs ...mutant) map[string]verdict {
	t.Helper()
	results, err := l.tryAll(t.Context(), bugs, workers, func(mutant, verdict) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// A bug whose test needs more time than at first is decided in the end; one whose test never
// ends stays undecided.
func TestWhatSaysNothingIsTriedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	slow := doubling("time.Sleep(600 * time.Millisecond); return 3 * n", "TestDouble/two")
	l := testLab(t, 1, 300*time.Millisecond, time.Minute)
	if results := l.tryAllOf(t, 2, slow); results[slow.name] != caught || len(results) != 1 {
		t.Errorf("a slow test: got %v, want one caught", results)
	}
	hangs := doubling("select {}", "TestDouble")
	results := testLab(t, 1, time.Second, 500*time.Millisecond).tryAllOf(t, 2, hangs)
	if results[hangs.name] != undecided || len(results) != 1 {
		t.Errorf("a test that hangs: got %v, want one undecided", results)
	}
	if _, err := report(results, 0, 1); err == nil {
		t.Error("an undecided bug counts as success")
	}
}

// A test may take longer than the harness's patience: its limit follows how long it takes
// without the bug, which is seen by each control, and before each further try.
func TestLimitFollowsTheTimeWithoutTheBug(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	bug := doubling("return 8 * n", "TestThatTakesTime")
	l, patience := testLab(t, 1), 600*time.Millisecond
	if f := l.try(t.Context(), bug, patience); f.verdict != undecided {
		t.Errorf("its time is not known: got %s: %s, want a time-out", f.verdict, f.reason)
	}
	if f := l.control(t.Context(), bug, time.Minute); f.verdict != caught {
		t.Fatalf("without the bug: got %s: %s", f.verdict, f.reason)
	}
	if f := l.try(t.Context(), bug, patience); f.verdict != caught {
		t.Errorf("its time is known: got %s: %s, want caught", f.verdict, f.reason)
	}
	l.took.Store(key(victim, bug.test), time.Duration(0))
	if f := l.again(t.Context(), bug, patience); f.verdict != caught {
		t.Errorf("tried again: got %s: %s, want caught", f.verdict, f.reason)
	}
}

// A machine that is too busy for a test says nothing of the bug.
func TestBugIsUndecidedWhereTheTestHasNoTime(t *testing.T) {
	t.Parallel()
	bug := doubling("return 2 * n + 1 - 1", "TestThatTakesTime")
	f := testLab(t, 1).again(t.Context(), bug, 100*time.Millisecond)
	if f.verdict != undecided || !strings.Contains(f.reason, "without the bug") {
		t.Errorf("got %s: %s", f.verdict, f.reason)
	}
}

// A bug that is caught now and then is not caught.
func TestTheTestMustCatchTheBugEveryTime(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "seen")
	bug := doubling("if _, err := os.Stat(`"+file+"`); err == nil { return 2 * n }; os.WriteFile(`"+file+"`, nil, 0o600); return 3 * n", "TestDouble/two")
	f := testLab(t, 3).try(t.Context(), bug, time.Minute)
	if f.verdict != missed || !strings.Contains(f.reason, "caught it 1 time") {
		t.Errorf("got %s: %s", f.verdict, f.reason)
	}
}

// A test may fail once because the machine was busy, and pass without the bug when it is not.
func TestAFailureThatDoesNotRepeatDecidesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "seen")
	bug := doubling("if _, err := os.Stat(`"+file+"`); err == nil { return 2 * n }; os.WriteFile(`"+file+"`, nil, 0o600); return 3 * n", "TestDouble/two")
	results := testLab(t, 1, time.Minute, time.Minute).tryAllOf(t, 1, bug)
	if results[bug.name] != missed || len(results) != 1 {
		t.Errorf("got %v, want one missed by the second try", results)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if f := testLab(t, 1).try(t.Context(), bug, time.Minute); f.verdict != undecided || !strings.Contains(f.reason, "run again") {
		t.Errorf("got %s: %s, want undecided", f.verdict, f.reason)
	}
}
