package generated_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/branched"
)

// TestStepsUnderOthersAgainstOracle: records over few rows leave, whatever batches they come in,
// what the oracle says they leave one by one, where steps stand under others or replace rows.
func TestStepsUnderOthersAgainstOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	s := load(t, "../../../testdata/golden/behaviour/branched/idemgen.yaml")
	db := newDatabase(t)
	emptied(t, db)
	createTables(t, db, s)
	applied, total := 0, 0
	for _, topic := range s.Topics {
		for seed := range uint64(12) {
			log := branchedRecords(topic, seed)
			for _, size := range []int{3, len(log)} {
				t.Run(fmt.Sprintf("%s seed %d by %d", topic.Name, seed, size), func(t *testing.T) {
					applied += applyBranched(t, s, db, topic.Name, log, size)
					total += len(log)
				})
			}
		}
	}
	if applied*3 < total*2 {
		t.Errorf("%d of %d records take effect: that proves little", applied, total)
	}
}

// branchedRecords makes forty records of a few events, so that these meet.
func branchedRecords(topic *model.Topic, seed uint64) (log []*wire.Message) {
	r := rand.New(rand.NewPCG(seed, 11))
	small := func() int { return 1 + r.IntN(3) }
	pick := func(texts string) string { words := strings.Fields(texts); return words[r.IntN(len(words))] }
	var types []string
	for range 2 + r.IntN(6) {
		types = append(types, topic.Events[r.IntN(len(topic.Events))].Types[0])
	}
	for i := range 40 {
		var lines, names []string
		for range r.IntN(4) {
			lines = append(lines, fmt.Sprintf(`{"id":%d,"n":%d,"v":%q}`, small(), small(), pick("p q s")+strconv.Itoa(i%2)))
			names = append(names, strconv.Quote(pick("p q s t")))
		}
		m := record(pick(strings.Join(types, " ")), fmt.Sprintf(`"id":%d,"id2":%d,"n":%d,"v":"v%d","lines":[%s],"names":[%s],"ver":%d,"c":%q`,
			small(), small(), r.IntN(7)-3, i, strings.Join(lines, ","), strings.Join(names, ","), 1+r.IntN(9), pick("aa AA bb")))
		m.Topic, m.Key, m.Offset = topic.Name, []byte(pick("1 1 1 2")), int64(i)
		log = append(log, m)
	}
	return log
}

// applyBranched applies records in batches to empty tables and compares these with the oracle's.
// It returns how many take effect.
func applyBranched(t *testing.T, s *model.Service, db *pgxpool.Pool, topic string, log []*wire.Message, size int) (applied int) {
	in := oracle.New(s)
	var outcomes []oracle.Outcome
	for _, m := range log {
		out := in.Apply(oracle.Record{Topic: topic, Offset: m.Offset, Key: m.Key, Value: m.Value, Headers: []oracle.Header{oracle.Header(m.Headers[0])}})
		if outcomes = append(outcomes, out); out.Kind == oracle.Applied {
			applied++
		}
	}
	conn := withoutRows(t, db, s)
	defer conn.Release()
	r := &applier{batch: wire.NewBatch(branched.NewPlan(topic)), outcomes: outcomes, conn: conn}
	for part := range slices.Chunk(log, size) {
		r.apply(t, part)
	}
	for _, table := range s.Tables {
		got, want := stored(t, db, table, in.Columns(table.Name)), slices.Sorted(slices.Values(in.Rows(table.Name)))
		if !slices.Equal(got, want) {
			t.Errorf("table %s\ngot  %q\nwant %q", table.Name, got, want)
		}
	}
	return applied
}
