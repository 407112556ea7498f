package keys_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

var quiet = idem.WithLogger(slog.New(slog.DiscardHandler))

// BenchmarkLoad takes a partition over whose chain remembers a million keys in rows of 500,
// and, for comparison, reads the same rows into a plain Go map. Of the first, the fence is
// a part.
func BenchmarkLoad(b *testing.B) {
	const keys, perRow = 1_000_000, 500
	db := rig.Database(b)
	c := rig.InChain(24*time.Hour, quiet).Consumer(b, db)
	rig.Own(b, c)
	idemtest.Exec(b, db, fmt.Sprintf(`
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, written_at, keys)
SELECT 1, n + 1, gen_random_uuid(), (n - 1) * %[1]d, n * %[1]d, 'b', -1, 1, 1, 0, clock_timestamp() - (%[2]d - n) * interval '20 hours' / %[2]d,
    (SELECT string_agg(substr(sha256((n::text || '.' || k)::bytea), 1, 20), '') FROM generate_series(1, %[1]d) k)
FROM generate_series(1, %[2]d) n`, perRow, keys/perRow))
	idemtest.Exec(b, db, `VACUUM ANALYZE idem_ledger`)
	b.Run("keyset", func(b *testing.B) {
		for range b.N {
			w := rig.Own(b, c)
			if w.Keys() != keys {
				b.Fatalf("%d keys", w.Keys())
			}
		}
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/million")
	})
	b.Run("map", func(b *testing.B) {
		for range b.N {
			rows, err := db.Query(b.Context(), `SELECT keys FROM idem_ledger WHERE keys IS NOT NULL ORDER BY seq`)
			if err != nil {
				b.Fatal(err)
			}
			m := map[idem.Key]wire.Prior{}
			var row pgtype.DriverBytes
			for rows.Next() {
				if err := rows.Scan(&row); err != nil {
					b.Fatal(err)
				}
				for r := row; len(r) > 0; r = r[20:] {
					m[idem.Key(r)] = wire.Prior{Print: uint32(r[16])<<24 | uint32(r[17])<<16 | uint32(r[18])<<8 | uint32(r[19]), Def: 1}
				}
			}
			if err := rows.Err(); err != nil || len(m) != keys {
				b.Fatal(err, len(m))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/million")
	})
}

// BenchmarkBatch applies batches of 500 upserts that are identified by their offset, by keys
// of the chain, and by keys of a table.
func BenchmarkBatch(b *testing.B) {
	for _, identity := range []struct{ name, prefix string }{{"offset", ""}, {"chain", "@%d: "}, {"anywhere", "%d: "}} {
		b.Run(identity.name, func(b *testing.B) {
			db := rig.Database(b)
			both := rig.Service{Options: []idem.Option{quiet}, Edit: func(s *wire.Service) { s.Topics[0].Chain = time.Hour }}
			w := rig.Own(b, both.Consumer(b, db))
			const size = 500
			texts := make([]string, size)
			for range b.N {
				b.StopTimer()
				for i := range texts {
					texts[i] = fmt.Sprintf("put %d 1", i)
					if identity.prefix != "" {
						texts[i] = fmt.Sprintf(identity.prefix, w.Next()+int64(i)) + texts[i]
					}
				}
				msgs := rig.Records(w.Next(), texts...)
				b.StartTimer()
				if res := rig.Apply(b, w, msgs); res.Applied != size {
					b.Fatalf("%+v", res)
				}
			}
		})
	}
}
