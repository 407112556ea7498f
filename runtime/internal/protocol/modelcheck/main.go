// Command modelcheck explores the protocol's models within their full bounds: the chain, and
// effects under a lease. Its last line is "model: N states, V violations"; it exits 1 unless V is
// 0. It must not import any package of this module but model and model/effects.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/protocol/model"
	"github.com/idemgen/idemgen/runtime/internal/protocol/model/effects"
)

func main() {
	states, violations := leases()
	of, more := chain()
	states, violations = states+of, violations+more
	fmt.Printf("model: %d states, %d violations\n", states, violations)
	if violations > 0 {
		os.Exit(1)
	}
}

func chain() (states, violations int) {
	for _, b := range model.Full() {
		start := time.Now()
		e := model.Explore(model.Protocol(), b, false)
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

// leases explores effects, each bound up to its first violation.
func leases() (states, violations int) {
	for _, b := range effects.Bounds(false) {
		start := time.Now()
		e := effects.Explore(&b.Rules, b.Left)
		fmt.Printf("effect, %-32s %9d states (%.0f s)\n", b.Name, e.States, time.Since(start).Seconds())
		states += e.States
		if e.Violation == "" {
			continue
		}
		violations++
		fmt.Printf("%s, after\n", e.Violation)
		for _, step := range e.Trace {
			fmt.Printf("\t%s\n", step)
		}
	}
	return states, violations
}
