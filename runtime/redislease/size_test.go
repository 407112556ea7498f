package redislease_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtest/redistest"
	"github.com/idemgen/idemgen/runtime/lease"
	"github.com/idemgen/idemgen/runtime/redislease"
	"github.com/idemgen/idemgen/runtime/wire"
)

// How much memory of the server a lease takes, all that is kept for it: docs/effects.md says it.
func TestSizeOfALease(t *testing.T) {
	const n = 20_000
	short, err := json.Marshal(map[string]string{"message_id": strings.Repeat("m", 20)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		result []byte
		most   int // bytes
	}{
		{"no result", nil, 500}, {"a result of 37 bytes", short, 550}, {"a result of 500 bytes", make([]byte, 500), 2000},
	} {
		client := client(t, redistest.Start(t, nil))
		store := redislease.New(client)
		before := usedMemory(t, client.Info(t.Context(), "memory").Val())
		for from := 0; from < n; from += 500 {
			asks, ends := make([]lease.Ask, 500), make([]lease.End, 500)
			for i := range asks {
				asks[i] = lease.Ask{
					Key: eventKey((from + i) * 1_000_003), Owner: wire.UUID{1, 2, 3}, Token: int64(1_000_000 + from + i),
					Term: time.Minute, Keep: 8 * 24 * time.Hour, Content: lease.Content{Def: 0xfedcba98, Print: 0xfedcba98},
				}
				ends[i] = lease.End{
					Hold: lease.Hold{Key: asks[i].Key, Owner: asks[i].Owner, Token: asks[i].Token}, State: lease.Done, Result: c.result, Attempts: 1,
				}
			}
			_, err := store.Acquire(t.Context(), "notifications", asks)
			if err == nil {
				_, err = store.Record(t.Context(), "notifications", ends)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		each := (usedMemory(t, client.Info(t.Context(), "memory").Val()) - before) / n
		t.Logf("%s: %d bytes for each lease", c.what, each)
		if each > c.most || each < len(c.result)+200 {
			t.Errorf("%s: %d bytes, not within %d and %d", c.what, each, len(c.result)+200, c.most)
		}
	}
}

func usedMemory(t *testing.T, info string) int {
	t.Helper()
	_, rest, _ := strings.Cut(info, "used_memory:")
	number, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
