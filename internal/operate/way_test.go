package operate_test

import (
	"fmt"
	"testing"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
)

// codes are all reasons of halts.
var codes = []halt.Code{
	halt.TopicRecreated, halt.RetentionPassed, halt.LogTruncated, halt.PartitionsChanged, halt.LedgerMissing, halt.LedgerGone, halt.KeysLost, halt.NewerVersion,
	halt.RecordRefused, halt.DeadLetters, halt.LetterRefused, halt.Handler, halt.Database, halt.Pooler, halt.Runtime, halt.Paused,
}

// Every code has advice, and the command of every code with all arguments that it is printed with
// is read; anything else is refused.
func TestWaysOutOfAHaltAreRead(t *testing.T) {
	for _, code := range codes {
		if a := operate.AdviceOn(string(code)); a.Happened == "" || a.Check == "" {
			t.Errorf("%s has no advice", code)
		}
		args := []string{""}
		if code.Verb() == "set" {
			args = []string{" --from 5000 --to 4711 --apply-again", " --from none --topic-id " + newID + " --to 0 --partitions 12", " --from 4711 --to 4711"}
		}
		if code == halt.PartitionsChanged {
			args = []string{" --partitions 12"}
		}
		if code == halt.NewerVersion {
			args = []string{" --older-version-may-run"}
		}
		for _, arg := range args {
			command := halt.Remedy(code, "projector", "orders.v1", 3, arg)
			w, err := operate.ParseWay(command)
			if err != nil || w.Command != command || w.Costs() == "" {
				t.Errorf("%s: %+v, %v", command, w, err)
			}
		}
		if pass := halt.Pass(code, "projector", "orders.v1", 3, 4711); pass != "" {
			if w, err := operate.ParseWay(pass); err != nil || w.Costs() != "Records before offset 4712 that were not applied never take effect: they are lost, and nothing of them is kept." {
				t.Errorf("%s: %+v, %v", pass, w, err)
			}
		}
	}
	for _, command := range []string{"", "rm -rf", "idemgen stream list", "idemgen stream set --consumer a --topic b --partition 1", "idemgen stream release --consumer a --topic b",
		"idemgen stream release --consumer a --topic b --partition -1", "idemgen stream release --consumer a --topic b --partition 1 --to 3",
		"idemgen stream release --consumer a --topic b --partition 1 --all", "idemgen stream set --consumer a --topic b --partition 1 --to"} {
		if w, err := operate.ParseWay(command); err == nil {
			t.Errorf("%q was read: %+v", command, w)
		}
	}
}

// A way out does what its command says, and says before what it would do.
func TestAWayOutIsTaken(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID).batch(5)
	w := begin(t, db, operate.Name{Consumer: orders.Consumer, Topic: orders.Topic, Partition: 1}, oldID)
	w.batch(5)
	way, err := operate.ParseWay(halt.Pass(halt.RecordRefused, orders.Consumer, orders.Topic, 1, 15))
	if err != nil {
		t.Fatal(err)
	}
	dry := ann
	dry.DryRun = true
	would, err := way.Run(t.Context(), db, dry)
	if err != nil || len(would) != 1 || would[0].Appended {
		t.Fatalf("dry run: %+v, %v", would, err)
	}
	done, err := way.Run(t.Context(), db, ann)
	if err != nil || len(done) != 1 || !done[0].Appended || done[0].Effect != would[0].Effect {
		t.Fatalf("run: %+v, %v", done, err)
	}
	want(t, "effect", done[0].Effect, "1 offset, 15, passes without effect")
	want(t, "rows", chain(t, db, w.stream), "0g 10>10 3 4, 1b 10>15 3 4, 2s 15>16 3 4")
	all, err := operate.ParseWay(halt.Remedy(halt.PartitionsChanged, orders.Consumer, orders.Topic, 0, " --partitions 12"))
	if err != nil {
		t.Fatal(err)
	}
	if done, err = all.Run(t.Context(), db, ann); err != nil || len(done) != 2 {
		t.Errorf("all: %+v, %v", done, err)
	}
	want(t, "rows", fmt.Sprint(done[0].Partitions), "12")
}
