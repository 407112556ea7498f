package redislease_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/kit/leasetest"
	"github.com/idemgen/idemgen/internal/kit/redistest"
	"github.com/idemgen/idemgen/runtime/redislease"
)

// How much memory of the server a lease takes, all that is kept for it: docs/effects.md says it.
func TestSizeOfALease(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	t.Parallel()
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
		leasetest.Fill(t, false, store, n, c.result)
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
