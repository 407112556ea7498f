package idemtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
)

// Release resumes a halted partition, as an operator does with idemgen stream release. If several
// consumers read the partition into this database, it resumes all of them. The owner must take the
// partition over again.
func Release(t testing.TB, db *pgxpool.Pool, topic string, partition int32) {
	t.Helper()
	all, err := operate.List(t.Context(), db, "")
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	released := false
	for _, s := range all {
		if s.Topic != topic || s.Partition != partition || s.Former || s.NoLedger() {
			continue
		}
		name := operate.Name{Consumer: s.Consumer, Topic: topic, Partition: partition}
		if _, err := operate.Release(t.Context(), db, name, operate.Leave{}, operate.By{Operator: "idemtest", Reason: "the test continues"}); err != nil {
			t.Fatalf("idemtest: release %v: %v", name, err)
		}
		released = true
	}
	if !released {
		t.Fatalf("idemtest: release %s/%d: it has no ledger", topic, partition)
	}
}
