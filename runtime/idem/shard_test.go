package idem_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// sharded is a consumer with several databases, whose events are identified by their offsets.
func sharded(t *testing.T, first *pgxpool.Pool, others ...*pgxpool.Pool) *idem.Consumer {
	t.Helper()
	return service{edit: byOffset, options: []idem.Option{idem.WithShards(others...)}}.consumer(t, first)
}

func byOffset(s *wire.Service) { s.Topics[0].Window = 0 }

// partitionOf is the assignment of a partition that nobody has read.
func partitionOf(number int32) idem.Assignment {
	a := newSource(nil).assignment
	a.Partition.Number, a.Partitions = number, 6
	return a
}

// Each partition is applied in its shard, and nothing of it is in another one. A process that has
// the databases in another order, or another number of them, halts.
func TestPartitionsAreAppliedInTheirShards(t *testing.T) {
	t.Parallel()
	a, b, c := database(t), database(t), database(t)
	works := sharded(t, a, b)
	sink := drive(t, works)
	for p := range int32(6) {
		if _, err := sink.Assigned(t.Context(), partitionOf(p)); err != nil {
			t.Fatal(err)
		}
		if err := sink.Deliver(t.Context(), idem.Partition{Topic: topic, Number: p}, records(0, fmt.Sprintf("put %d 1", p), "put x")); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "rows of shard 0", table(t, a), "0=1 2=1 4=1")
	want(t, "rows of shard 1", table(t, b), "1=1 3=1 5=1")
	const streams = `SELECT string_agg(partition || ' in ' || shard || '/' || shards, ', ' ORDER BY partition) FROM idem_stream`
	want(t, "ledgers of shard 0", query(t, a, streams), "0 in 0/2, 2 in 0/2, 4 in 0/2")
	want(t, "ledgers of shard 1", query(t, b, streams), "1 in 1/2, 3 in 1/2, 5 in 1/2")
	want(t, "dead letters of shard 1", letters(t, b), "1 decode, 1 decode, 1 decode")
	if s := works.Stats(); s.Applied != 6 || s.Dead != 6 || len(s.Partitions) != 6 {
		t.Errorf("%+v", s)
	}
	for name, other := range map[string]*idem.Consumer{
		"one database": sharded(t, a), "another order": sharded(t, b, a), "one more": sharded(t, a, b, c), "the other one": sharded(t, b),
	} {
		sink := drive(t, other)
		_, err := sink.Assigned(t.Context(), partitionOf(0))
		halted := wantError[*idem.HaltedError](t, err)
		if halted.Code != halt.OtherShard || !strings.Contains(halted.Error(), "the database is shard ") {
			t.Errorf("%s: %v", name, halted)
		}
	}
	if _, err := drive(t, sharded(t, a, b)).Assigned(t.Context(), partitionOf(1)); err != nil {
		t.Errorf("the same databases: %v", err)
	}
}

// An operator changes the number of shards: an owner that had the former number is fenced, and
// no partition continues, nor does one begin that is new to the database.
func TestChangedNumberOfShardsStopsOwners(t *testing.T) {
	t.Parallel()
	db := database(t)
	sink := drive(t, sharded(t, db))
	assign(t, sink, 0)
	idemtest.Exec(t, db, `UPDATE idem_stream SET shard = 0, shards = 2`)
	deliver(t, sink, records(0, "put 1 1")) // its chain has not moved
	appendRow(t, db, "o", "next", "operator ann: shard 0 of 2")
	wantError[*idem.FencedError](t, sink.Deliver(t.Context(), first, records(1, "put 2 2")))
	now(t, sink)
	for _, p := range []int32{0, 1} {
		_, err := sink.Assigned(t.Context(), partitionOf(p))
		want(t, "code", wantError[*idem.HaltedError](t, err).Code, halt.OtherShard)
	}
	want(t, "rows", table(t, db), "1=1")
	want(t, "ledgers", query(t, db, `SELECT count(*)::text FROM idem_stream`), "1")
}

// An outage of one database holds up its partitions alone, also at the start; one that lacks the
// migrations ends the service, whichever it is.
func TestShardsStartEachByItself(t *testing.T) {
	t.Parallel()
	away, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	here := database(t)
	c, h := sharded(t, here, away), make(hand, 1)
	running, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(running, h) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var sink idem.Sink
	select {
	case sink = <-h:
	case <-time.After(20 * time.Second):
		t.Fatal("the service waits for a database that is away")
	}
	assign(t, sink, 0)
	deliver(t, sink, records(0, "put 1 1"))
	want(t, "rows", table(t, here), "1=1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := sink.Assigned(ctx, partitionOf(1)); err == nil {
		t.Error("a partition of the database that is away is taken over")
	}
	if health := fmt.Sprint(c.Health().Err()); !strings.Contains(health, "shard 1 of 2: the database has not been reached since the start") {
		t.Errorf("health: %s", health)
	}
	late := idemtest.DB(t).Config()
	gate := make(chan struct{})
	late.BeforeConnect = func(ctx context.Context, _ *pgx.ConnConfig) error {
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return nil
	}
	bare, err := pgxpool.NewWithConfig(t.Context(), late)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bare.Close)
	begun := make(hand)
	go func() { <-begun; close(gate) }()
	limited, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	ended := sharded(t, here, bare).Run(limited, begun)
	if ended == nil || !strings.HasPrefix(ended.Error(), "shard 1 of 2: ") || !strings.Contains(ended.Error(), "lacks tables of the runtime") {
		t.Errorf("without migrations: %v", ended)
	}
}

// What would have to be known in several databases is refused.
func TestShardsThatCannotBe(t *testing.T) {
	t.Parallel()
	db := database(t)
	for want, c := range map[string]struct {
		edit   func(*wire.Topic)
		others []*pgxpool.Pool
	}{
		"copies: anywhere":         {func(topic *wire.Topic) { topic.Window = time.Hour }, []*pgxpool.Pool{db}},
		"have locks":               {func(topic *wire.Topic) { topic.Locks = true }, []*pgxpool.Pool{db}},
		"a connection pool is nil": {func(*wire.Topic) {}, []*pgxpool.Pool{nil}},
	} {
		s := wire.Service{Consumer: "test", Topics: []wire.Topic{{Name: topic}}}
		c.edit(&s.Topics[0])
		if _, err := idem.New(db, s, idem.WithShards(c.others...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
