package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func testOptions() options {
	return options{only: regexp.MustCompile(""), times: 1, workers: 1}
}

// called is a bug of the victim's Double that TestDouble/two catches if it is one.
func called(name, body string) mutant {
	m := doubling(body, "TestDouble/two")
	m.name = name
	return m
}

// recorded is a bug's line.
func (l *lab) recorded(t *testing.T, m mutant) line {
	t.Helper()
	hash, err := newFingerprinter(l.root, l.sources).of(m)
	if err != nil {
		t.Fatal(err)
	}
	return line{hash, m.name}
}

// A run plays the bugs that are not recorded, and records those that are caught.
func TestRunPlaysWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	l, r := testLab(t, 1, time.Minute), testRecord(t)
	harmless, changed := called("harmless", "return n + n"), called("changed", "return 3 * n")
	r.write(t, l.recorded(t, harmless), line{hashOf(1), changed.name}, line{hashOf(2), "gone"})
	bugs := []mutant{harmless, changed, called("new", "return 4 * n")}
	if err := l.answer(t.Context(), testOptions(), bugs, r); err != nil {
		t.Errorf("a bug that is recorded was played: %v", err)
	}
	want := lines{}
	for _, m := range bugs {
		want[l.recorded(t, m)] = true
	}
	if got := r.text(t); got != string(want.text()) {
		t.Errorf("got\n%s\nwant\n%s", got, want.text())
	}
}

// A bug that is not caught has no line, whatever was recorded.
func TestBugThatIsMissedLosesItsLine(t *testing.T) {
	t.Parallel()
	harmless := called("harmless", "return n + n")
	silent := doubling("return 3 * n", "TestThatSaysNothing")
	gone := mutant{"gone", in(victim, "Triple").Drop(`return _`), victim, "TestDouble"}
	bugs := []mutant{harmless, silent, gone, called("another", "return 3 * n")}
	for name, set := range map[string]func(*options){
		"played several times": func(o *options) { o.times = 2 },
		"all are played":       func(o *options) { o.all = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r := testLab(t, 1, time.Minute), testRecord(t)
			another := line{hashOf(3), "another"}
			r.write(t, l.recorded(t, harmless), l.recorded(t, silent), line{hashOf(1), "gone"})
			r.write(t, another)
			o := testOptions()
			o.only = regexp.MustCompile("harmless|gone|" + silent.name)
			set(&o)
			err := l.answer(t.Context(), o, bugs, r)
			if err == nil || !strings.Contains(err.Error(), string(missed)) {
				t.Errorf("got %v, want an error that says what was missed", err)
			}
			if got, want := r.text(t), string(lines{another: true}.text()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// stopAtOne ends a run when its record has exactly one line.
func stopAtOne(ctx context.Context, stop func(), r record) {
	for ctx.Err() == nil {
		if all, err := r.read(); err == nil && len(all) == 1 {
			stop()
		}
		time.Sleep(time.Millisecond)
	}
}

// A run of all bugs that is stopped, and a usual one that goes on, record what one run records.
func TestRunThatWasStoppedGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "go on")
	bugs := []mutant{
		called("first", "return 3 * n"),
		called("waits", "for { if _, err := os.Stat(`"+file+"`); err == nil { return 3 * n } }"),
		called("last", "return 4 * n"),
	}
	l, stopped, whole := testLab(t, 1, time.Minute), testRecord(t), testRecord(t)
	for _, m := range bugs {
		stopped.write(t, l.recorded(t, m))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go stopAtOne(ctx, stop, stopped)
	o := testOptions()
	o.all = true
	err := l.answer(ctx, o, bugs, stopped)
	if err == nil || !strings.Contains(err.Error(), "stopped before the end") {
		t.Errorf("the run that was stopped: got %v", err)
	}
	if all, err := stopped.read(); err != nil || len(all) != 1 || !all[l.recorded(t, bugs[0])] {
		t.Errorf("the run that was stopped recorded %v, %v", all, err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []record{stopped, whole} {
		if err := l.answer(t.Context(), testOptions(), bugs, r); err != nil {
			t.Error(err)
		}
	}
	all, err := stopped.read()
	if err != nil || len(all) != len(bugs) {
		t.Errorf("got %v, %v, want all bugs", all, err)
	}
	if got, want := stopped.text(t), whole.text(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The last line says what became of all chosen bugs.
func TestLastLine(t *testing.T) {
	both := map[string]verdict{"a": caught, "b": caught}
	one := map[string]verdict{"a": caught, "b": missed}
	for _, test := range []struct {
		results           map[string]verdict
		recorded, planted int
		want              string
		caught            bool
	}{
		{both, 0, 2, "mutants: 2 planted, 2 caught", true},
		{both, 3, 5, "mutants: 5 planted, 5 caught (3 of them recorded)", true},
		{nil, 2, 2, "mutants: 2 planted, 2 caught (2 of them recorded)", true},
		{one, 0, 2, "mutants: 2 planted, 1 caught, 1 NOT CAUGHT", false},
		{both, 1, 4, "mutants: 4 planted, 3 caught (1 of them recorded)", false},
	} {
		line, err := report(test.results, test.recorded, test.planted)
		if line != test.want || (err == nil) != test.caught {
			t.Errorf("got %q, %v, want %q", line, err, test.want)
		}
	}
}
