package keys_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// BenchmarkKeysAnywhere compares batches of 500 events over two sealed generations of
// 500,000 keys each: every generation read; filters for the sealed ones, the open one read;
// filters only; and events identified by their offset. The modes take turns, so that a busy
// machine is busy for all of them. It reports the median of each one's time as a ratio to
// that of reading everything, and how many reads a batch with filters takes.
func BenchmarkKeysAnywhere(b *testing.B) {
	db := keysDatabase(b)
	modes := []*keyMode{{name: "read-all", open: true}, {name: "filters+open", open: true}, {name: "filters"}, {name: "no-keys"}}
	for n, m := range modes {
		log, option := rig.Logged()
		m.consumer = rig.Service{Options: []idem.Option{option}}.Consumer(b, db)
		if m.name == "read-all" {
			m.consumer.LimitFilters(0)
		}
		m.writer = rig.OwnPartition(b, m.consumer, int32(n))
		m.apply(b)
		if strings.HasPrefix(m.name, "filters") {
			rig.Await(b, log, "filter of sealed keys built", 2)
		}
		for range 20 {
			m.apply(b) // until plans are cached
		}
		m.took, m.reads = nil, 0
	}
	for b.Loop() {
		for _, m := range modes {
			m.apply(b)
		}
	}
	all := modes[0].median()
	for _, m := range modes {
		b.ReportMetric(float64(m.median())/float64(all), m.name+"-ratio")
	}
	b.ReportMetric(500/all.Seconds(), "read-all-events/s")
	b.ReportMetric(float64(modes[2].reads)/float64(len(modes[2].took)), "filters-reads/batch")
}

// keyMode is one way to test keys.
type keyMode struct {
	name     string
	open     bool // the open generation is read
	consumer *rig.Consumer
	writer   *rig.Writer
	took     []time.Duration
	reads    int
}

// apply applies the next batch of new keys.
func (m *keyMode) apply(b *testing.B) {
	texts := make([]string, 500)
	for i := range texts {
		texts[i] = "skip 0"
		if m.name != "no-keys" {
			texts[i] = fmt.Sprintf("%s-%d: skip 0", m.name, m.writer.Next()+int64(i))
		}
	}
	msgs := rig.Records(m.writer.Next(), texts...)
	if m.open {
		m.writer.Races()
	}
	ctx := fault.With(b.Context(), func(step string) error {
		if step == fault.BeforeProbe {
			m.reads++
		}
		return nil
	})
	start := time.Now()
	if _, err := m.writer.Apply(ctx, msgs); err != nil {
		b.Fatal(err)
	}
	m.took = append(m.took, time.Since(start))
}

func (m *keyMode) median() time.Duration {
	slices.Sort(m.took)
	return m.took[len(m.took)/2]
}

// keysDatabase has two sealed generations of 500,000 keys and an open one of 100,000.
func keysDatabase(b *testing.B) *pgxpool.Pool {
	db := rig.Database(b)
	c := rig.Service{}.Consumer(b, db)
	rig.Own(b, c)
	for _, keys := range []int{500_000, 500_000, 100_000} {
		idemtest.Exec(b, db, fmt.Sprintf(`INSERT INTO idem_keys (gen, key, def, fp, stream, seq)
SELECT (SELECT gen FROM idem_key_gen WHERE sealed_at IS NULL), gen_random_uuid(), 1, 1, 99, 1 FROM generate_series(1, %d)`, keys))
		if keys == 500_000 {
			rig.Rotate(b, db, c)
		}
	}
	if _, err := db.Exec(context.Background(), `ANALYZE`); err != nil {
		b.Fatal(err)
	}
	idemtest.Exec(b, db, `CHECKPOINT`)
	return db
}
