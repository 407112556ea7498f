// Command mutants plants one bug at a time and checks that the test that states the broken
// property fails. A bug that nobody catches is a missing test. The working tree stays as it
// is, but for the record of caught bugs: bugs are planted by an overlay of the go command.
//
// A bug is caught if its test says so: it ran to its end, failed with a message, passes without
// the bug, and fails once more with it: a single failure may come from a deadline of the test
// that a busy machine missed. A run that ends by a time-out or a crash says nothing. It is
// tried again, alone and with more time; if it says nothing then either, the bug is undecided.
// How long the test may run then follows from how long it takes without the bug at that time,
// so that a busy machine decides nothing. A test that a bug makes wait for ever must say so
// itself, by a deadline of its own.
//
// Bugs that change only bodies of functions are compiled together, and the environment chooses
// one (package joint): a test package is then built once, not once a bug. The others are built
// one at a time.
//
// A bug's place is a declaration and a pattern of syntax in it: package plant says which renames
// break it. TestEveryBugCompiles fails then, within seconds, and says where the place may be now.
//
// # What is played
//
// Bugs that were caught are recorded in scripts/mutants/caught.txt, which is committed. A run
// plays those that are not there, and those that changed since: the bug's edits, a file that it
// is planted in, its test's name or the file of its test. It writes a bug's line as soon as the
// bug is caught, so a run that was stopped goes on when it is started again. A bug that is not
// caught any more loses its line. Do not edit the file; a merge of two branches keeps the lines
// of both.
//
// A bug may be caught no more although all this is as it was, by a change of something else
// that its test needs. So from time to time play all:
//
//	make mutants ALL=1        all bugs, whatever is recorded (-all)
//	make mutants SHARD=2/4    the second of four parts (-shard)
//	make mutants              goes on with what is left, also of an ALL=1 that was stopped
//
// ALL=1 begins by removing the lines of its bugs. So start it once, and go on without it. Bugs
// of one test are always in the same part, whatever is recorded. Several parts may be played in
// one directory at the same time.
//
// -only chooses bugs by their names. -times runs each bug's test several times with the bug; it
// plays the chosen bugs even if they are recorded.
//
// # Bugs that are drawn
//
// With -draw N, bugs are drawn at random from all places of the product where a small change
// makes other code of it (package draw); -seed decides which. The tests near a bug must catch it,
// in short: those of its package, those of packages in its folder or that import it, and for the
// generator those of the golden cases. Bugs that none of them catches are printed at the end,
// with the share of each house. Judge each: a test is missing, code that decides nothing can go,
// or the change is none. A run reads the sources as it begins and builds tests while it plays, so
// let it have a worktree of its own.
//
// Without -draw, the last line is "mutants: N planted, N caught", and how many of them are
// recorded from runs before; it exits 1 unless all of the chosen bugs are caught.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
)

func main() {
	o := options{only: regexp.MustCompile("")}
	flag.Func("only", "choose only bugs whose name matches this regular expression", o.setOnly)
	flag.Var(&o.shard, "shard", "choose only bugs of this `part`: 2/4 is the second of four")
	flag.BoolVar(&o.all, "all", false, "first remove the chosen bugs from the record, so that all are played")
	flag.IntVar(&o.times, "times", 1, "run a bug's test so often: it must catch it every time;\n"+
		"above 1, bugs are played even if they are recorded")
	flag.IntVar(&o.workers, "workers", 2, "so many bugs are tried at the same time")
	flag.IntVar(&o.draw, "draw", 0, "draw so many bugs at random, in the place of those of the lists;\n"+
		"-only chooses packages by their directories, ./runtime/outbox")
	flag.Uint64Var(&o.seed, "seed", 1, "decides what -draw draws")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	play := run
	if o.draw > 0 {
		play = runDrawn
	}
	err := play(ctx, o)
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
		outageBugs, hookBugs, sourceBugs, generatorBugs, tableBugs, envelopeBugs,
		migrationBugs, effectBugs, readerBugs, avroBugs, redisBugs, storeBugs, lockBugs, letterBugs,
		outboxBugs, deadTopicBugs, reportBugs, consoleBugs, pauseBugs, compareBugs,
	)
}
