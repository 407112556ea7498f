package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// game is the play of some bugs.
type game struct {
	note func(mutant, verdict) error // is told of each verdict, by one call at a time
	stop context.CancelFunc
	size int

	mu      sync.Mutex
	results map[string]verdict // of what is decided, by the bug's name
	again   []mutant           // what must be tried again
	err     error              // of note
}

// tryAll tries all bugs, some at a time; those that their tests say nothing of are tried
// again, one at a time and with more patience. It prints a line for each, and returns the
// verdicts by the bugs' names: of all, unless it was stopped.
func (l *lab) tryAll(
	ctx context.Context, bugs []mutant, workers int, note func(mutant, verdict) error,
) (map[string]verdict, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g := &game{note: note, stop: stop, size: len(bugs), results: map[string]verdict{}}
	for n, patience := range l.patience {
		last := n == len(l.patience)-1
		try := l.try
		if n > 0 {
			workers, try = 1, l.again
		}
		each(bugs, workers, func(m mutant) {
			start := time.Now()
			if f := try(ctx, m, patience); ctx.Err() == nil {
				g.take(m, f, last, time.Since(start))
			}
		})
		bugs, g.again = g.again, nil
		slices.SortFunc(bugs, byTest)
	}
	return g.results, g.err
}

// take takes what was found of a bug. An error of note ends the game.
func (g *game) take(m mutant, f finding, last bool, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return
	}
	retry := f.verdict == undecided && !last
	if retry {
		g.again = append(g.again, m)
	} else if g.err = g.note(m, f.verdict); g.err != nil {
		g.stop()
		return
	} else {
		g.results[m.name] = f.verdict
	}
	g.print(m, f, retry, took)
}

func (g *game) print(m mutant, f finding, retry bool, took time.Duration) {
	progress := fmt.Sprintf("%d/%d", len(g.results), g.size)
	fmt.Printf("%7s %-62s %s (%.0f s)\n", progress, m.name, f.text(retry), took.Seconds())
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
