package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// Statement texts do not vary with data: after a warm-up, 10,000 commits of every shape leave
// no further entry in pg_stat_statements. A text that grew with a batch would fill that view
// and the plan caches of every pooler.
func TestStatementTextsAreConstant(t *testing.T) {
	rig.Lengthy(t)
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{Conf: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "all",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := pgxpool.New(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	idemtest.Exec(t, db, `CREATE EXTENSION pg_stat_statements`)
	rig.Migrate(t, db)
	w := rig.Own(t, rig.Service{Handle: func(ctx context.Context, tx idem.Tx, row int32) error {
		_, err := tx.Exec(ctx, `UPDATE t SET v = v WHERE id = $1`, row)
		return err
	}}.Consumer(t, db))

	random := rand.New(rand.NewPCG(1, 2))
	commits := func(n int) {
		for range n {
			rig.Apply(t, w, batch(random, w.Next()))
		}
	}
	const entries = `SELECT count(*)::text FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`
	commits(300)
	before := rig.Query(t, db, entries)
	commits(2_000)
	rig.Want(t, "entries of pg_stat_statements", rig.Query(t, db, entries), before)
}

// batch is one to eight records of any kind.
func batch(random *rand.Rand, from int64) []idem.Message {
	texts := make([]string, 1+random.IntN(8))
	for i := range texts {
		id, v := random.IntN(50), random.IntN(1000)
		switch random.IntN(10) {
		case 0:
			texts[i] = "nonsense x"
		case 1:
			texts[i] = fmt.Sprintf("call %d", id)
		case 2, 3, 4:
			texts[i] = fmt.Sprintf("k%d: put %d %d", random.IntN(1<<20), id, v)
		case 5:
			texts[i] = fmt.Sprintf("skip %d", id)
		default:
			texts[i] = fmt.Sprintf("put %d %d", id, v)
		}
	}
	return rig.Records(from, texts...)
}
