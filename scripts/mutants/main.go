// Command mutants plants one bug at a time and checks that the test that states the broken
// property fails. A bug that nobody catches is a missing test. The working tree stays as it
// is: a bug is planted by an overlay of the go command.
//
// A bug is caught if its test says so: it ran to its end, failed with a message, passes without
// the bug, and fails once more with it: a single failure may come from a deadline of the test
// that a busy machine missed. A run that ends by a time-out or a crash says nothing. It is
// tried again, alone and with more time; if it says nothing then either, the bug is undecided.
// How long a test may run follows from how long it takes without the bug at that time, so that
// a busy machine decides nothing. A test that a bug makes wait for ever must say so itself, by
// a deadline of its own.
//
// A bug's place is a declaration and a pattern of syntax in it: package plant says which renames
// break it. TestEveryBugCompiles fails then, within seconds, and says where the place may be now.
//
// Its last line is "mutants: N planted, N caught"; it exits 1 unless all are.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "plant only bugs whose name matches this regular expression")
	times := flag.Int("times", 1, "run a bug's test so often: it must catch it every time")
	workers := flag.Int("workers", 2, "so many bugs are tried at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *only, *times, *workers)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// all are the bugs of every list.
func all() []mutant {
	return slices.Concat(
		protocolBugs, writeBugs, keyBugs, catalogBugs, sessionBugs, handlerBugs, slowBugs,
		outageBugs, copyBugs, hookBugs, sourceBugs, generatorBugs, tableBugs, envelopeBugs, migrationBugs, effectBugs, readerBugs,
		redisBugs, storeBugs, lockBugs, letterBugs, eraseBugs, emitBugs, relayBugs,
	)
}

func run(ctx context.Context, only string, times, workers int) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	chosen := slices.DeleteFunc(all(), func(m mutant) bool { return !match.MatchString(m.name) })
	if len(chosen) == 0 {
		return fmt.Errorf("-only: no bug's name matches %q", only)
	}
	l, err := newLab(".", times, 3*time.Minute, 5*time.Minute, 8*time.Minute)
	if err != nil {
		return err
	}
	defer l.close()
	start := time.Now()
	if err := l.baseline(ctx, chosen, workers, 30*time.Minute); err != nil {
		return err
	}
	fmt.Printf("all tests pass without a bug (%.0f s)\n", time.Since(start).Seconds())
	return report(l.tryAll(ctx, chosen, workers), len(chosen))
}

// report prints the last line.
func report(counts map[verdict]int, planted int) error {
	line := fmt.Sprintf("mutants: %d planted, %d caught", planted, counts[caught])
	var errs []error
	for _, v := range []verdict{missed, undecided, broken} {
		if n := counts[v]; n > 0 {
			errs = append(errs, fmt.Errorf("%d %s", n, v))
			line += fmt.Sprintf(", %d %s", n, v)
		}
	}
	if counts[caught] < planted && len(errs) == 0 {
		errs = append(errs, errors.New("stopped before the end"))
	}
	fmt.Println(line)
	return errors.Join(errs...)
}

// tryAll tries all bugs, some at a time; those that their tests say nothing of are tried
// again, one at a time and with more patience. It prints a line for each.
func (l *lab) tryAll(ctx context.Context, bugs []mutant, workers int) map[verdict]int {
	counts := map[verdict]int{}
	var mu sync.Mutex
	for n, patience := range l.patience {
		last := n == len(l.patience)-1
		try := l.try
		if n > 0 {
			workers, try = 1, l.again
		}
		var again []mutant
		each(bugs, workers, func(m mutant) {
			start := time.Now()
			f := try(ctx, m, patience)
			if ctx.Err() != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			retry := f.verdict == undecided && !last
			if retry {
				again = append(again, m)
			} else {
				counts[f.verdict]++
			}
			fmt.Printf("%-62s %s (%.0f s)\n", m.name, f.text(retry), time.Since(start).Seconds())
		})
		if bugs = again; len(bugs) == 0 {
			break
		}
		slices.SortFunc(bugs, func(a, b mutant) int { return cmp.Compare(a.name, b.name) })
	}
	return counts
}

// each calls f with every item, so many at a time.
func each[T any](items []T, workers int, f func(T)) {
	next := make(chan T)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for item := range next {
				f(item)
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	wg.Wait()
}
