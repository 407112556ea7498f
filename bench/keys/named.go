package keys

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Named returns a consumer of another name, which stands for another service: it shares the
// tables of the database with the rest, and no rows.
func Named(name string, db *pgxpool.Pool, opts ...idem.Option) (*idem.Consumer, error) {
	return idem.New(db, wire.Service{
		Source: "idemgen.yaml", Consumer: name, Schema: map[string]int{"core": 1, "keys": 1},
		Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 30 * time.Second,
			EventTimeout: 5 * time.Second, StatementTimeout: 20 * time.Second, LockTimeout: 5 * time.Second,
			MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 20,
		},
		Tables: []wire.Table{{
			Name: "places", Unique: [][]string{{"place"}}, Rights: []string{"SELECT", "UPDATE"},
			Columns: []wire.Column{{Name: "place", Type: "text"}, {Name: "records", Type: "bigint"}},
		}},
		Topics: []wire.Topic{anywhereV1Topic(), sameV1Topic(), offsetV1Topic()},
	}, opts...)
}
