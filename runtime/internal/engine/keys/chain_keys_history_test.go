package keys_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/longtest"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// chainRow is a row of the chain, as a reader without any cleverness sees it.
type chainRow struct {
	token  idem.UUID
	window int64
	keys   map[idem.Key]uint32
}

func chainRows(t *testing.T, db *pgxpool.Pool) map[int64]chainRow {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT seq, token, window_seq, keys FROM idem_ledger`)
	if err != nil {
		t.Fatal(err)
	}
	chain := map[int64]chainRow{}
	var seq, window int64
	var token idem.UUID
	var keys []byte
	_, err = pgx.ForEachRow(rows, []any{&seq, &token, &window, &keys}, func() error {
		r := chainRow{token, window, map[idem.Key]uint32{}}
		for ; len(keys) > 0; keys = keys[20:] {
			r.keys[idem.Key(keys)] = binary.BigEndian.Uint32(keys[16:])
		}
		chain[seq] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// checkMemory compares a writer's memory with a map made of the rows of the chain from the
// window up to the writer's tail. It reports false if that tail is gone.
func checkMemory(t *testing.T, chain map[int64]chainRow, w *rig.Writer) bool {
	t.Helper()
	token, window, tail := w.Tail()
	if chain[tail].token != token {
		return false
	}
	rig.Want(t, "window of the tail", window, chain[tail].window)
	naive := map[idem.Key]uint32{}
	for seq := window; seq <= tail; seq++ {
		for key, print := range chain[seq].keys {
			naive[key] = print
		}
	}
	for key, print := range naive {
		if got, _, ok := w.Knows(key); !ok || got != print {
			t.Errorf("tail %d, window %d: a key of the chain is %v %d in memory, want %d", tail, window, ok, got, print)
		}
	}
	rig.Want(t, "keys in memory", w.Keys(), len(naive))
	return true
}

// checkChain: no row claims a key that a row in its predecessor's window had claimed.
func checkChain(t *testing.T, chain map[int64]chainRow) {
	t.Helper()
	for seq, r := range chain {
		for before := chain[seq-1].window; before < seq; before++ {
			for key := range r.keys {
				if _, twice := chain[before].keys[key]; twice {
					t.Errorf("row %d claims a key that row %d holds", seq, before)
				}
			}
		}
	}
}

// history is a random life of one partition.
type history struct {
	t     *testing.T
	rnd   *rand.Rand
	db    *pgxpool.Pool
	clock *rig.Clocks
	live  *rig.Writer
	old   *rig.Writer // another took over from it; nil if there is none
	stale bool        // a failover took rows that live remembers
}

func (h *history) log(from int64, n int) []idem.Message {
	var texts []string
	for i := range n {
		at := rand.New(rand.NewPCG(uint64(from)+uint64(i), 9)) // the same record every time it is read
		k, v := at.IntN(60), 1
		verb := []string{"put", "put", "put", "need", "skip"}[k%5]
		switch at.IntN(20) {
		case 0:
			v = 5000 // refused
		case 1:
			v = 2 // a conflict, or the first
		}
		texts = append(texts, fmt.Sprintf("@%d: %s %d %d", k, verb, k, v))
	}
	return rig.Records(from, texts...)
}

// step does one thing, and reports what.
func (h *history) step() string {
	switch h.rnd.IntN(8) {
	case 0:
		h.takeOver()
		return "taken over"
	case 1:
		d := time.Duration(h.rnd.IntN(40)) * time.Minute
		h.clock.Pass(h.t, d)
		return fmt.Sprintf("%v passed", d)
	case 2:
		_, _, tail := h.live.Tail()
		idemtest.Exec(h.t, h.db, `DELETE FROM idem_ledger WHERE seq > 1 AND seq > $1`, tail-int64(h.rnd.IntN(4)))
		h.stale = true
		return "failover"
	case 3:
		if h.old != nil {
			_, err := h.old.Apply(h.t.Context(), h.log(h.old.Next(), 3))
			rig.WantError[*idem.FencedError](h.t, err)
		}
		return "an old owner woke up"
	}
	return h.batch()
}

func (h *history) takeOver() {
	h.old = h.live
	h.live = rig.Own(h.t, rig.InChain(2*time.Hour, rig.WithClock(h.clock.Now)).Consumer(h.t, h.db))
	h.stale = false
}

// batch applies some records; a reply may be lost, or the work end, at any step.
func (h *history) batch() string {
	ctx := fault.With(h.t.Context(), func(string) error {
		if h.rnd.IntN(8) == 0 {
			return rig.ErrLost
		}
		return nil
	})
	n := 1 + h.rnd.IntN(25)
	res, err := h.live.Apply(ctx, h.log(h.live.Next(), n))
	if _, ok := errors.AsType[*idem.FencedError](err); ok {
		if !h.stale {
			h.t.Errorf("fenced: %v", err)
		}
		h.takeOver()
		return "fenced"
	}
	return fmt.Sprintf("%d records: %+v %v", n, res, err)
}

// Whatever happens, memory is that of the chain up to the owner's tail: no more, no less.
// Batches, refused records, lost replies, halves, fences, owners that come and go, failovers
// that cut the chain, windows that pass.
func TestMemoryIsAFunctionOfTheChain(t *testing.T) {
	rig.Lengthy(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if seed > 1 {
				longtest.Skip(t)
			}
			t.Parallel()
			db := rig.Database(t)
			h := &history{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), db: db, clock: rig.FakeClocks(t, db)}
			h.takeOver()
			var done []string
			compared := 0
			for range 120 {
				done = append(done, h.step())
				chain := chainRows(t, db)
				if checkMemory(t, chain, h.live) {
					compared++
				} else if !h.stale {
					t.Error("the tail is gone")
				}
				checkChain(t, chain)
				if t.Failed() {
					t.Fatalf("after %v", done)
				}
			}
			if compared < 60 {
				t.Errorf("compared %d times only", compared)
			}
		})
	}
}
