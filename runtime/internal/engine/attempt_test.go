package engine_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/kit/cutproxy"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
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
				db := rig.Database(t)
				proxy, through := cutproxy.Pool(t, db)
				w := rig.Own(t, rig.InChain(time.Hour).Consumer(t, through))
				attempt := func(n int, commits bool) {
					t.Helper()
					ctx := t.Context()
					if commits {
						ctx = fault.With(ctx, rig.Lose(fault.Reply))
					} else {
						proxy.Once(doesNotArrive(appended))
					}
					if _, err := w.Apply(ctx, rig.Records(0, texts[:n]...)); err == nil {
						t.Fatal("the reply was not lost")
					}
				}
				attempt(3, test.first)
				attempt(1, !test.first)
				rig.Apply(t, w, rig.Records(0, texts[:2]...))
				rig.Want(t, "chain", rig.Query(t, db, `SELECT string_agg(prev || '-' || next || kind::text, ' ' ORDER BY seq) FROM idem_ledger`), test.chain)
				if copies := rig.Apply(t, w, rig.Records(w.Next(), texts...)); kind != "without keys" {
					rig.Want(t, "copies", copies, test.again)
				}
				rig.Want(t, "rows", rig.Table(t, db), "1=1 2=2 3=3")
			})
		}
	}
}
