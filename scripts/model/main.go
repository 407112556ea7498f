// Command model explores the protocol's models within their full bounds: the chain, effects
// under a lease, and dead letters. Its last line is "model: N states, V violations"; it exits 1
// unless V is 0.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/idemgen/idemgen/internal/proof/model/chain"
	"github.com/idemgen/idemgen/internal/proof/model/effects"
	"github.com/idemgen/idemgen/internal/proof/model/explore"
	"github.com/idemgen/idemgen/internal/proof/model/letters"
)

func main() {
	var all total
	for _, b := range effects.Bounds(false) {
		all.add("effect, "+b.Name, func() explore.Exploration { return effects.Explore(&b.Rules, b.Left) })
	}
	for _, b := range letters.Bounds(false) {
		all.add("letters, "+b.Name, func() explore.Exploration { return letters.Explore(&b.Rules, b.Left) })
	}
	states, violations := partition()
	states, violations = states+all.states, violations+all.violations
	fmt.Printf("model: %d states, %d violations\n", states, violations)
	if violations > 0 {
		os.Exit(1)
	}
}

func partition() (states, violations int) {
	for _, b := range chain.Full() {
		start := time.Now()
		e := chain.Explore(chain.Protocol(), b, false)
		fmt.Printf("%-28s %9d states %10d transitions %3d violations (%.0f s)\n", b.Name, e.States(), e.Transitions, e.Count, time.Since(start).Seconds())
		states += e.States()
		violations += e.Count
		for _, v := range e.Violations {
			fmt.Printf("%s, after\n", v.What)
			for i := range v.Trace {
				fmt.Printf("\t%v\n", v.Trace[i].String())
			}
		}
	}
	return states, violations
}

// total is what came of several explorations, each up to its first violation.
type total struct{ states, violations int }

func (t *total) add(name string, run func() explore.Exploration) {
	start := time.Now()
	e := run()
	fmt.Printf("%-40s %9d states (%.0f s)\n", name, e.States, time.Since(start).Seconds())
	t.states += e.States
	if e.Violation == "" {
		return
	}
	t.violations++
	fmt.Printf("%s, after\n", e.Violation)
	for _, step := range e.Trace {
		fmt.Printf("\t%s\n", step)
	}
}
