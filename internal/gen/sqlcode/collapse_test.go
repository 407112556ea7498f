package sqlcode_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
)

// TestCollapse: a statement over many rows of few keys leaves what its rows leave one by
// one.
func TestCollapse(t *testing.T) {
	for _, guard := range []string{"", ", if_newer: n"} {
		t.Run("upsert"+guard, func(t *testing.T) {
			c := stepCase{
				table:  "primary_key: [id], columns: {id: integer, n: nullable integer, v: text}",
				fields: "n: int32, v: string", write: "upsert: t1" + guard,
			}
			s := load(t, c.spec())
			step := s.Topics[0].Events[0].Steps[0]
			if !step.Collapse {
				t.Fatal("the step does not collapse rows")
			}
			sql := statement(t, step)
			db := database(t, s)
			rnd := rand.New(rand.NewPCG(1, 2))
			for range 50 {
				var ids, ns ints
				var vs texts
				for i := range 1 + rnd.IntN(12) {
					ids, ns, vs = append(ids, rnd.Int32N(3)), append(ns, rnd.Int32N(4)), append(vs, string(rune('a'+i)))
				}
				var got [2][]string
				for i := range got {
					idemtest.Exec(t, db, "TRUNCATE t1")
					idemtest.Exec(t, db, "INSERT INTO t1 VALUES (0, NULL, 'stored'), (1, 2, 'stored')")
					if i == 0 {
						idemtest.Exec(t, db, sql, ids, ns, vs)
					} else {
						for j := range ids {
							idemtest.Exec(t, db, sql, ids[j:j+1], ns[j:j+1], vs[j:j+1])
						}
					}
					got[i] = rows(t, db, "SELECT * FROM t1 ORDER BY id")
				}
				if !slices.Equal(got[0], got[1]) {
					t.Fatalf("rows %v %v %v\nat once    %q\none by one %q", ids, ns, vs, got[0], got[1])
				}
			}
		})
	}
}
