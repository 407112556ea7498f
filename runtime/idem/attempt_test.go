package idem_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
)

// Bugs: one token for all attempts; own token found, the latest attempt's
// boundary or keys adopted. Of two attempts whose replies are lost, only one arrived.
func TestAttemptThatCommittedIsAdopted(t *testing.T) {
	t.Parallel()
	for kind, texts := range map[string][]string{ // a key in a table would be found before the append is sent
		"without keys":      {"put 1 1", "put 2 2", "put 3 3"},
		"keys in the chain": {"@a: put 1 1", "@b: put 2 2", "@c: put 3 3"},
	} {
		for name, test := range map[string]struct {
			first bool // commits, else the second
			chain string
			again idem.Result // of copies of all records, if they have keys
		}{
			"the first":  {true, "0-0g 0-0f 0-3b", idem.Result{Duplicates: 3}},
			"the second": {false, "0-0g 0-0f 0-1b 1-2b", idem.Result{Duplicates: 2, Applied: 1}},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				db := database(t)
				l := &line{sent: []byte("_append\x00"), early: true}
				w := own(t, inChain(time.Hour).consumer(t, l.through(t, db)))
				attempt := func(n int, commits bool) {
					t.Helper()
					ctx := t.Context()
					if commits {
						ctx = fault.With(ctx, lose(fault.Reply))
					} else {
						l.armed.Store(true)
					}
					if _, err := w.Apply(ctx, records(0, texts[:n]...)); err == nil {
						t.Fatal("the reply was not lost")
					}
				}
				attempt(3, test.first)
				attempt(1, !test.first)
				apply(t, w, records(0, texts[:2]...))
				want(t, "chain", query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), test.chain)
				if copies := apply(t, w, records(w.Next(), texts...)); kind != "without keys" {
					want(t, "copies", copies, test.again)
				}
				want(t, "rows", table(t, db), "1=1 2=2 3=3")
			})
		}
	}
}
