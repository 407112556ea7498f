package idem_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// BenchmarkShards applies records of 4 partitions in one database, and in two on two durable
// servers of this machine.
func BenchmarkShards(b *testing.B) {
	const partitions, batch = 4, 500
	var pools []*pgxpool.Pool
	for range 2 {
		s, err := idemtest.StartPostgres(b.Context(), idemtest.PostgresOptions{Durable: true, TCP: true})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		db, err := pgxpool.New(b.Context(), s.URL())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(db.Close)
		pools = append(pools, db)
	}
	for n := 1; n <= len(pools); n++ {
		b.Run(fmt.Sprintf("servers=%d", n), func(b *testing.B) {
			for _, db := range pools[:n] {
				idemtest.Exec(b, db, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
				runtimeTables(b, db)
				idemtest.Migrate(b, db, filepath.Join("testdata", "table"))
			}
			sink := drive(b, service{edit: byOffset, options: []idem.Option{idem.WithShards(pools[1:n]...)}}.consumer(b, pools[0]))
			for p := range int32(partitions) {
				if _, err := sink.Assigned(b.Context(), partitionOf(p)); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			var done sync.WaitGroup
			for p := range partitions {
				done.Go(func() {
					for i := range b.N {
						var texts []string
						for r := range batch {
							texts = append(texts, fmt.Sprintf("put %d %d", p<<24+(i*batch+r)%100_000, i))
						}
						if err := sink.Deliver(b.Context(), idem.Partition{Topic: topic, Number: int32(p)}, records(int64(i*batch), texts...)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			done.Wait()
			b.ReportMetric(float64(b.N*batch*partitions)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
