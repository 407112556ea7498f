package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// options choose bugs and say how they are played.
type options struct {
	only    *regexp.Regexp
	shard   shard
	all     bool
	times   int
	workers int
	draw    int
	seed    uint64
}

func (o *options) setOnly(text string) (err error) {
	o.only, err = regexp.Compile(text)
	return err
}

// choose returns the bugs that a run answers for. Bugs of one package and test follow one
// another.
func (o options) choose(bugs []mutant) ([]mutant, error) {
	matches := func(m mutant) bool { return o.only.MatchString(m.name) }
	if !slices.ContainsFunc(bugs, matches) {
		return nil, fmt.Errorf("-only: no bug's name matches %q", o.only)
	}
	var chosen []mutant
	for _, m := range bugs {
		if matches(m) && o.shard.has(m) {
			chosen = append(chosen, m)
		}
	}
	slices.SortStableFunc(chosen, byTest)
	return chosen, nil
}

func byTest(a, b mutant) int {
	return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
}

// recordPath is where the record is in the module.
const recordPath = "scripts/mutants/caught.txt"

func run(ctx context.Context, o options) error {
	l, err := newLab(".", o.times, 5*time.Minute, 8*time.Minute) // tests wait up to 4 minutes, and then say for what
	if err != nil {
		return err
	}
	defer l.close()
	return l.answer(ctx, o, all(), record{recordPath})
}

// answer plays those of the chosen bugs that must be played, and records their verdicts. It
// returns an error unless all chosen bugs are caught.
func (l *lab) answer(ctx context.Context, o options, bugs []mutant, r record) error {
	chosen, err := o.choose(bugs)
	if err != nil {
		return err
	}
	b, err := newBook(r, newFingerprinter(l.root, l.sources), bugs)
	if err != nil {
		return err
	}
	left, err := b.toPlay(chosen, o)
	if err != nil {
		return err
	}
	recorded := len(chosen) - len(left)
	if o.times > 1 {
		fmt.Printf("%d bugs, each to be caught %d times\n", len(chosen), o.times)
	} else {
		fmt.Printf("%d bugs: %d recorded as caught, %d left to play\n", len(chosen), recorded, len(left))
	}
	if err := l.join(left); err != nil {
		return err
	}
	results, err := l.tryAll(ctx, left, o.workers, b.note)
	printLeft(left, results)
	line, unless := report(results, recorded, len(chosen))
	fmt.Println(line)
	return errors.Join(err, unless)
}

// toPlay returns those of the chosen bugs that must be played.
func (b *book) toPlay(chosen []mutant, o options) ([]mutant, error) {
	if o.all {
		if err := b.forget(chosen); err != nil {
			return nil, err
		}
	}
	if o.times > 1 {
		return chosen, nil
	}
	return b.left(chosen)
}

// printLeft says what a run that was stopped did not decide.
func printLeft(bugs []mutant, results map[string]verdict) {
	counts := map[string]int{}
	for _, m := range bugs {
		if results[m.name] == "" {
			counts[m.pkg]++
		}
	}
	if len(counts) == 0 {
		return
	}
	fmt.Printf("stopped: %d left to play\n", len(bugs)-len(results))
	for _, pkg := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%7d of %s\n", counts[pkg], pkg)
	}
}

// report returns the last line, and an error unless all bugs are caught. Those that are recorded
// are.
func report(results map[string]verdict, recorded, planted int) (string, error) {
	counts := map[verdict]int{caught: recorded}
	for _, v := range results {
		counts[v]++
	}
	line := fmt.Sprintf("mutants: %d planted, %d caught", planted, counts[caught])
	if recorded > 0 {
		line += fmt.Sprintf(" (%d of them recorded)", recorded)
	}
	var errs []error
	for _, v := range []verdict{missed, undecided, broken} {
		if n := counts[v]; n > 0 {
			errs = append(errs, fmt.Errorf("%d %s", n, v))
			line += fmt.Sprintf(", %d %s", n, v)
		}
	}
	if recorded+len(results) < planted {
		errs = append(errs, errors.New("stopped before the end"))
	}
	return line, errors.Join(errs...)
}
