package operate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
)

// Shard says which of a consumer's databases one is, and how many there are.
type Shard = ledger.Shard

// Reshard records that a database is another shard of a consumer, and then appends a row to each
// ledger, which fences the owners that still have the former number of shards: they halt. Ledgers
// of partitions that other shards apply stay as they are.
func Reshard(ctx context.Context, db DB, consumer string, is Shard, by By) ([]Change, error) {
	if is.Of < 1 || is.Number < 0 || is.Number >= is.Of {
		return nil, fmt.Errorf("there is no %v: shards are numbered from 0", is)
	}
	all, err := named(ctx, db, Name{Consumer: consumer, Partition: Any})
	if err != nil {
		return nil, err
	}
	if !by.DryRun {
		_, err := transact(ctx, db, func(conn *pgconn.PgConn) error {
			_, err := exec(ctx, conn, ledger.ReshardSQL, []byte(consumer), ledger.Int4(is.Number), ledger.Int4(is.Of))
			return err
		})
		if err != nil {
			return nil, Explain(err)
		}
	}
	by.Reason = fmt.Sprintf("%v: %s", is, by.Reason)
	var own []Name
	for _, s := range all {
		if s.Tail != nil && !s.Former {
			own = append(own, s.Name)
		}
	}
	return Each(own, by, func(n Name, by By) (Change, error) {
		c, err := Release(ctx, db, n, Leave{}, by)
		if c.Effect = "this database applies the partition"; !is.Has(n.Partition) {
			c.Effect = fmt.Sprintf("shard %d applies the partition; its ledger here stays as it is", n.Partition%is.Of)
		}
		return c, err
	})
}
