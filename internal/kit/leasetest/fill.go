package leasetest

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Fill leaves n leases in a store, done with a result, as those of effects are.
func Fill(t testing.TB, draws bool, store lease.Store, n int, result []byte) {
	t.Helper()
	const most = 500
	for from := 0; from < n; from += most {
		take(t, draws, store, from, min(most, n-from), result)
	}
}

// Bench measures how long it takes to acquire leases and to record their results, 1 and 64 of them
// together. The transaction of the ledger comes on top.
func Bench(b *testing.B, draws bool, store lease.Store) {
	next := 0
	for _, together := range []int{1, 64} {
		b.Run(fmt.Sprintf("together=%d", together), func(b *testing.B) {
			for b.Loop() {
				take(b, draws, store, next, together, []byte(`{"message_id":"m-17"}`))
				next += together
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/round")
			b.ReportMetric(float64(b.N*together)/b.Elapsed().Seconds(), "leases/s")
		})
	}
}

// take takes n leases, and records that they are done.
func take(t testing.TB, draws bool, store lease.Store, from, n int, result []byte) {
	t.Helper()
	asks, ends := make([]lease.Ask, n), make([]lease.End, n)
	for i := range asks {
		var key wire.Key // keys are hashes: they are spread
		binary.BigEndian.PutUint64(key[:], uint64(from+i)*0x9e3779b97f4a7c15)
		binary.BigEndian.PutUint64(key[8:], uint64(from+i))
		asks[i] = lease.Ask{
			Key: key, Owner: wire.UUID{1, 2, 3}, Term: time.Minute, Keep: 8 * 24 * time.Hour, Content: lease.Content{Def: 0xfedcba98, Print: 0xfedcba98},
		}
		if !draws {
			asks[i].Token = int64(1_000_000 + from + i)
		}
	}
	answers, err := store.Acquire(t.Context(), "notifications", asks)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if !a.Got {
			t.Fatalf("lease %d was not to be had: %+v", i, a)
		}
		ends[i] = lease.End{
			Hold: lease.Hold{Key: asks[i].Key, Owner: asks[i].Owner, Token: a.Token}, State: lease.Done, Result: result, Attempts: 1,
		}
	}
	held, err := store.Record(t.Context(), "notifications", ends)
	if err != nil {
		t.Fatal(err)
	}
	for i := range held {
		if !held[i] {
			t.Fatalf("lease %d was lost", i)
		}
	}
}
