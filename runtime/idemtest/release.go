package idemtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/operate"
)

// Release lets a halted partition continue, as an operator does by idemgen stream release: for all
// of its consumers, if several read it into this database. Its owner must take it over again.
func Release(t testing.TB, db *pgxpool.Pool, topic string, partition int32) {
	t.Helper()
	all, err := operate.List(t.Context(), db, "")
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	released := false
	for _, s := range all {
		if s.Topic != topic || s.Partition != partition || s.Former {
			continue
		}
		name := operate.Name{Consumer: s.Consumer, Topic: topic, Partition: partition}
		if _, err := operate.Release(t.Context(), db, name, operate.Leave{}, operate.By{Operator: "idemtest", Reason: "the test goes on"}); err != nil {
			t.Fatalf("idemtest: release %v: %v", name, err)
		}
		released = true
	}
	if !released {
		t.Fatalf("idemtest: release %s/%d: it has no ledger", topic, partition)
	}
}
