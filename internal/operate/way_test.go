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

// Every halt says what happened, and what to check.
func TestEveryHaltHasAdvice(t *testing.T) {
	for _, code := range codes {
		if p := streams(1, member("a", "0 HALTED "+string(code))).Judge()[0]; p.Happened == "" || p.Check == "" {
			t.Errorf("%s has no advice", code)
		}
	}
}

// A way out does what its command says, and says before what it would do.
func TestAWayOutIsTaken(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID).batch(5)
	w := begin(t, db, operate.Name{Consumer: orders.Consumer, Topic: orders.Topic, Partition: 1}, oldID)
	w.batch(5)
	way := halt.Way{Code: halt.RecordRefused, Consumer: orders.Consumer, Topic: orders.Topic, Partition: 1}.Pass(15)
	dry := ann
	dry.DryRun = true
	would, err := operate.Take(t.Context(), db, way, dry)
	if err != nil || len(would) != 1 || would[0].Appended {
		t.Fatalf("dry run: %+v, %v", would, err)
	}
	done, err := operate.Take(t.Context(), db, way, ann)
	if err != nil || len(done) != 1 || !done[0].Appended || done[0].Effect != would[0].Effect {
		t.Fatalf("run: %+v, %v", done, err)
	}
	want(t, "effect", done[0].Effect, "1 offset, 15, passes without effect")
	want(t, "rows", chain(t, db, w.stream), "0g 10>10 3 4, 1b 10>15 3 4, 2s 15>16 3 4")
	all := halt.Way{Code: halt.PartitionsChanged, Consumer: orders.Consumer, Topic: orders.Topic, All: true, Partitions: 12}
	if done, err = operate.Take(t.Context(), db, all, ann); err != nil || len(done) != 2 {
		t.Errorf("all: %+v, %v", done, err)
	}
	want(t, "rows", fmt.Sprint(done[0].Partitions), "12")
}
