package main

import (
	"testing"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// As many records are applied by one consumer and by several in one database.
func TestConsumersShareADatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Chdir("..")
	db, err := startDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	for _, n := range []int{1, 4} {
		m, err := crowd(t.Context(), db, n, 20_000)
		if err != nil || m.Records != 20_000 || m.Seconds <= 0 {
			t.Fatalf("%d consumers: %+v, %v", n, m, err)
		}
	}
}

// Processes of one group share its partitions, and what counts begins when they do.
func TestProcessesShareAGroup(t *testing.T) {
	longtest.Skip(t)
	t.Chdir("..")
	file, err := asItIs.build(t.Context(), t.TempDir(), asItIs.name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := startDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	l := spread(2_000_000)
	broker := idemtest.Kafka(t, map[string]int32{l.topic: memberPartitions})
	if err := l.produce(t.Context(), broker); err != nil {
		t.Fatal(err)
	}
	m, err := share(t.Context(), db, broker, l, file, 2)
	if err != nil || m.Records <= 0 || m.Seconds <= 0 || m.CPU <= 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
