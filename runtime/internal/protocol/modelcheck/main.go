// Command modelcheck explores the protocol's model within its full bounds. Its last line is
// "model: N states, V violations"; it exits 1 unless V is 0. It must not import any package of
// this module but model.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/protocol/model"
)

func main() {
	states, violations := 0, 0
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
	fmt.Printf("model: %d states, %d violations\n", states, violations)
	if violations > 0 {
		os.Exit(1)
	}
}
