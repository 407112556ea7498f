package main

import (
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
	return l
}

// A bug is caught by what its test says, and by nothing else.
func TestVerdicts(t *testing.T) {
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
			limit := time.Minute
			if test.reason == "timed out" {
				limit = 2 * time.Second
			}
			f := l.try(t.Context(), test.bug, limit)
			if f.verdict != test.want || !strings.Contains(f.reason, test.reason) {
				t.Errorf("got %s: %s, want %s: %s\n%s", f.verdict, f.reason, test.want, test.reason, f.tail)
			}
		})
	}
}

// A bug whose test needs more time than at first is decided in the end; one whose test never
// ends stays undecided.
func TestWhatSaysNothingIsTriedAgain(t *testing.T) {
	slow := doubling("time.Sleep(1500 * time.Millisecond); return 3 * n", "TestDouble/two")
	counts := testLab(t, 1, time.Second, time.Minute).tryAll(t.Context(), []mutant{slow}, 2)
	if counts[caught] != 1 || len(counts) != 1 {
		t.Errorf("a slow test: got %v, want one caught", counts)
	}
	counts = testLab(t, 1, time.Second, 2*time.Second).tryAll(t.Context(), []mutant{doubling("select {}", "TestDouble")}, 2)
	if counts[undecided] != 1 || len(counts) != 1 {
		t.Errorf("a test that hangs: got %v, want one undecided", counts)
	}
	if err := report(counts, 1); err == nil {
		t.Error("an undecided bug counts as success")
	}
}

// A test may take longer than the harness's patience: its limit follows how long it takes
// without the bug, by the baseline and by each further try.
func TestLimitFollowsTheTimeWithoutTheBug(t *testing.T) {
	bug := doubling("return 5 * n", "TestThatTakesTime")
	l := testLab(t, 1, time.Second)
	if f := l.try(t.Context(), bug, time.Second); f.verdict != undecided {
		t.Errorf("before the test ran without the bug: got %s: %s, want a time-out", f.verdict, f.reason)
	}
	if err := l.baseline(t.Context(), []mutant{bug}, 1, time.Minute); err != nil {
		t.Fatal(err)
	}
	if counts := l.tryAll(t.Context(), []mutant{bug}, 1); counts[caught] != 1 {
		t.Errorf("after the baseline: got %v, want one caught", counts)
	}
	if counts := testLab(t, 1, time.Second, 1500*time.Millisecond).tryAll(t.Context(), []mutant{bug}, 1); counts[caught] != 1 {
		t.Errorf("tried again: got %v, want one caught", counts)
	}
}

// A machine that is too busy for a test says nothing of the bug.
func TestBugIsUndecidedWhereTheTestHasNoTime(t *testing.T) {
	bug := doubling("return 2 * n + 1 - 1", "TestThatTakesTime")
	if f := testLab(t, 1).again(t.Context(), bug, 100*time.Millisecond); f.verdict != undecided || !strings.Contains(f.reason, "without the bug") {
		t.Errorf("got %s: %s", f.verdict, f.reason)
	}
}

// A bug that is caught now and then is not caught.
func TestTheTestMustCatchTheBugEveryTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seen")
	bug := doubling("if _, err := os.Stat(`"+file+"`); err == nil { return 2 * n }; os.WriteFile(`"+file+"`, nil, 0o600); return 3 * n", "TestDouble/two")
	f := testLab(t, 3).try(t.Context(), bug, time.Minute)
	if f.verdict != missed || !strings.Contains(f.reason, "caught it 1 time") {
		t.Errorf("got %s: %s", f.verdict, f.reason)
	}
}

// A test may fail once because the machine was busy, and pass without the bug when it is not.
func TestAFailureThatDoesNotRepeatDecidesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seen")
	bug := doubling("if _, err := os.Stat(`"+file+"`); err == nil { return 2 * n }; os.WriteFile(`"+file+"`, nil, 0o600); return 3 * n", "TestDouble/two")
	counts := testLab(t, 1, time.Minute, time.Minute).tryAll(t.Context(), []mutant{bug}, 1)
	if counts[missed] != 1 || len(counts) != 1 {
		t.Errorf("got %v, want one missed by the second try", counts)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if f := testLab(t, 1).try(t.Context(), bug, time.Minute); f.verdict != undecided || !strings.Contains(f.reason, "run again") {
		t.Errorf("got %s: %s, want undecided", f.verdict, f.reason)
	}
}

// Before any bug is planted, the tests pass.
func TestBaselineNamesTheTestsThatFail(t *testing.T) {
	l := testLab(t, 1)
	if err := l.baseline(t.Context(), []mutant{doubling("", "TestDouble/two"), doubling("", "TestThatSaysNothing")}, 1, time.Minute); err != nil {
		t.Error(err)
	}
	err := l.baseline(t.Context(), []mutant{doubling("", "TestDouble"), doubling("", "TestThatFailsWithoutABug"), doubling("", "TestNothing")}, 2, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "TestThatFailsWithoutABug") || !strings.Contains(err.Error(), "TestNothing") || strings.Contains(err.Error(), "TestDouble") {
		t.Errorf("got %v", err)
	}
}
