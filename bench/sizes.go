package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/bench/keys"
	"github.com/idemgen/idemgen/runtime/idem"
)

// The topics of bench/keys, by how their records are known again.
const (
	offsetTopic   = "offset.v1"
	sameTopic     = "same.v1"
	anywhereTopic = "anywhere.v1"

	orderedKeys = anywhereTopic + "-ordered" // the same topic, with UUIDs of version 7
)

// sizes measures what docs/scaling.md says of the tables, the WAL and the memory: per record by
// the records of a transaction, and with as many keys in a window.
type sizes struct {
	out          io.Writer
	transactions int // of each size
	db           *database
	pool         *pgxpool.Pool
	conn         *pgx.Conn // on the database of the run
	journal      *journal
}

// measureSizes prints all of it; or, if only names a topic, what windows of its keys take. own are
// settings of the server.
func measureSizes(ctx context.Context, out io.Writer, own map[string]string, transactions int, windows []int64, only string) (err error) {
	// No checkpoint comes but those that are asked for: without one no page is in the WAL as a whole.
	conf := map[string]string{"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.save": "off", "max_wal_size": "40GB"}
	maps.Copy(conf, own)
	db, err := startDatabaseWith(ctx, conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	settings, err := db.settings(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# %s, %v; records made in the process, %d partitions; %d cores\n", settings, own, partitions, runtime.NumCPU())
	s := &sizes{out: out, transactions: transactions, db: db}
	topics := []string{offsetTopic, sameTopic, anywhereTopic}
	if only != "" {
		topics = nil
	}
	for _, topic := range topics {
		for _, batch := range []int{500, 499, 100, 10, 1} {
			if err := s.on(ctx, func() error { return s.perRecord(ctx, topic, batch) }); err != nil {
				return fmt.Errorf("%s, %d in a transaction: %w", topic, batch, err)
			}
		}
	}
	for _, n := range windows {
		for _, topic := range []string{sameTopic, anywhereTopic, orderedKeys} {
			if only == "" || only == topic {
				if err := s.on(ctx, func() error { return s.window(ctx, topic, n) }); err != nil {
					return fmt.Errorf("%s, %d keys: %w", topic, n, err)
				}
			}
		}
	}
	return nil
}

// on does something on an empty database.
func (s *sizes) on(ctx context.Context, do func() error) error {
	url, err := s.db.fresh(ctx, log{
		migrations: "bench/keys/migrations", seed: placesSQL + "; CREATE EXTENSION pg_stat_statements",
	})
	if err != nil {
		return err
	}
	if s.pool, err = pgxpool.New(ctx, url); err != nil {
		return err
	}
	defer s.pool.Close()
	return s.db.with(ctx, func(conn *pgx.Conn) error {
		s.conn = conn
		return do()
	})
}

// placesSQL makes the rows that feeds count in.
const placesSQL = `INSERT INTO places SELECT f || '-' || p, 0 FROM generate_series(0, 15) AS f, generate_series(0, 15) AS p`

func (s *sizes) start(ctx context.Context, topic string, batch int) (*fed, error) {
	s.journal = &journal{}
	consumer, err := keys.NewConsumer(s.pool, idem.WithLogger(slog.New(s.journal)), idem.WithKeyMemory(8<<30), idem.WithHooks(s.journal))
	if err != nil {
		return nil, err
	}
	f := newFeed(anywhereTopic, "0", partitions, batch)
	if f.ordered = topic == orderedKeys; !f.ordered {
		f.topic = topic
	}
	return f.start(ctx, consumer)
}

// perRecord prints bytes per record, by the records of a transaction.
func (s *sizes) perRecord(ctx context.Context, topic string, batch int) error {
	r, err := s.start(ctx, topic, batch)
	if err != nil {
		return err
	}
	t, err := startTally(ctx, s.conn)
	if err != nil {
		return errors.Join(err, r.stop())
	}
	n := int64(batch * s.transactions)
	if err := errors.Join(r.apply(n), r.stop()); err != nil {
		return err
	}
	return s.bytes(ctx, fmt.Sprintf("%s %d a transaction", topic, batch), t, n)
}

// bytes prints the bytes of n records that were applied since a tally began.
func (s *sizes) bytes(ctx context.Context, what string, t *tally, n int64) error {
	did, err := t.read(ctx)
	if err != nil {
		return err
	}
	size, err := readTables(ctx, s.conn)
	if err != nil {
		return err
	}
	per := func(bytes int64) float64 { return float64(bytes) / float64(n) }
	images := did["append"].images + did["claim"].images + did["own"].images
	s.say("%s: tables %.2f per record (ledger %.2f + index %.2f + keys out of line %.2f; keys %.2f + index %.2f), WAL %.2f (append %.2f, claim %.2f, commit and rest %.2f; %d pages as a whole)",
		what, per(size.all()), per(size.ledgerHeap), per(size.ledgerIndex), per(size.ledgerKeys), per(size.keyHeap), per(size.keyIndex),
		per(did["all"].wal-did["own"].wal), per(did["append"].wal), per(did["claim"].wal),
		per(did["all"].wal-did["own"].wal-did["append"].wal-did["claim"].wal-did["trim"].wal), images)
	return nil
}

func (s *sizes) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// fill applies n records with keys of their own, and prints how fast each tenth of them was, what
// they take, and how much WAL more of them make behind a checkpoint.
func (s *sizes) fill(ctx context.Context, topic string, n int64) error {
	before := heap()
	r, err := s.start(ctx, topic, 500)
	if err != nil {
		return err
	}
	t, err := startTally(ctx, s.conn)
	if err == nil {
		err = s.tenths(ctx, r, topic, n)
	}
	if err == nil {
		err = s.bytes(ctx, fmt.Sprintf("%s %d keys", topic, n), t, n)
	}
	if err == nil {
		var ran, dead int64
		err = s.conn.QueryRow(ctx, `SELECT autovacuum_count, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'idem_ledger'`).Scan(&ran, &dead)
		s.say("%s %d keys: %.1f MB of heap; autovacuum of the ledger ran %d times, %d dead rows", topic, n, mega(heap()-before), ran, dead)
	}
	if err == nil {
		err = s.behindCheckpoint(ctx, r, topic, n)
	}
	return errors.Join(err, r.stop())
}

func (s *sizes) tenths(ctx context.Context, r *fed, topic string, n int64) error {
	var speeds, costs []string
	for range 10 {
		before, err := s.db.cpu(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := r.apply(n / 10); err != nil {
			return err
		}
		took := time.Since(began)
		after, err := s.db.cpu(ctx)
		if err != nil {
			return err
		}
		speeds = append(speeds, fmt.Sprintf("%.0f", float64(n/10)/took.Seconds()))
		costs = append(costs, fmt.Sprintf("%.1f", float64((after-before).Microseconds())/float64(n/10)))
	}
	s.say("%s %d keys: by tenths, records/s %s; microseconds of the database's CPU per record %s", topic, n, strings.Join(speeds, " "), strings.Join(costs, " "))
	return nil
}

// behindCheckpoint prints the WAL of records behind a checkpoint, from which on each page that is
// changed is in it as a whole, once.
func (s *sizes) behindCheckpoint(ctx context.Context, r *fed, topic string, n int64) error {
	began := time.Now()
	if err := script(ctx, s.conn, "CHECKPOINT"); err != nil {
		return err
	}
	s.say("%s %d keys: checkpoint of the fill in %v", topic, n, time.Since(began).Round(time.Millisecond))
	for _, part := range []int64{n / 100, n / 10} {
		t, err := startTally(ctx, s.conn)
		if err != nil {
			return err
		}
		if err := r.apply(part); err != nil {
			return err
		}
		did, err := t.read(ctx)
		if err != nil {
			return err
		}
		s.say("%s %d keys: the next %d records behind a checkpoint: WAL %.1f per record, %d pages as a whole by claims, %d by appends",
			topic, n, part, float64(did["all"].wal-did["own"].wal)/float64(part), did["claim"].images, did["append"].images)
	}
	return nil
}

// takeOver starts a consumer, and prints how long it takes to take all partitions over.
func (s *sizes) takeOver(ctx context.Context, topic string, n int64) (*fed, error) {
	before := heap()
	began := time.Now()
	r, err := s.start(ctx, topic, 500)
	if err != nil {
		return nil, err
	}
	s.say("%s %d keys: start and take-over of %d partitions in %v, the slowest %v; %.1f MB of heap", topic, n, partitions,
		time.Since(began).Round(time.Millisecond), slices.Max(r.takeOvers).Round(time.Millisecond), mega(heap()-before))
	return r, nil
}

// window is a window of n keys, from the first of them until they are over.
func (s *sizes) window(ctx context.Context, topic string, n int64) error {
	if err := s.fill(ctx, topic, n); err != nil {
		return err
	}
	if topic == sameTopic {
		return s.same(ctx, n)
	}
	return s.anywhere(ctx, topic, n)
}

// same is a window of keys in the ledger.
func (s *sizes) same(ctx context.Context, n int64) error {
	r, err := s.takeOver(ctx, sameTopic, n)
	if err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	// All rows become older than the window; vacuum removes what that leaves.
	for _, sql := range []string{"UPDATE idem_ledger SET written_at = written_at - interval '2 days'", "VACUUM idem_ledger"} {
		if err := script(ctx, s.conn, sql); err != nil {
			return err
		}
	}
	return s.trim(ctx, n)
}

// trim has the upkeep remove what is older than the window, and vacuum what that leaves. The
// upkeep runs when a consumer starts; the owners move the window with what they append.
func (s *sizes) trim(ctx context.Context, n int64) error {
	t, err := startTally(ctx, s.conn)
	if err != nil {
		return err
	}
	before, err := readTables(ctx, s.conn)
	if err != nil {
		return err
	}
	r, err := s.start(ctx, sameTopic, 500)
	if err != nil {
		return err
	}
	if err := errors.Join(r.apply(partitions*500), r.stop()); err != nil {
		return err
	}
	if r, err = s.start(ctx, sameTopic, 500); err != nil {
		return err
	}
	for old, end := true, time.Now().Add(longest); old && time.Now().Before(end) && err == nil; {
		time.Sleep(10 * time.Millisecond)
		err = s.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM idem_ledger WHERE written_at < now() - interval '1 day')`).Scan(&old)
	}
	did, more := t.read(ctx)
	if err := errors.Join(err, more, r.stop()); err != nil {
		return err
	}
	after, err := readTables(ctx, s.conn)
	if err != nil {
		return err
	}
	trim, gone := did["trim"], before.ledgerRows-after.ledgerRows
	s.say("%s %d keys: the upkeep removed %d rows of the ledger by %d statements in %v, WAL %.0f per row", sameTopic, n, gone, trim.calls, trim.took.Round(time.Millisecond), float64(trim.wal)/float64(gone))
	return s.vacuum(ctx, fmt.Sprintf("%s %d keys: after that", sameTopic, n), "idem_ledger")
}

// vacuum prints what a vacuum does.
func (s *sizes) vacuum(ctx context.Context, what, table string) error {
	t, err := startTally(ctx, s.conn)
	if err != nil {
		return err
	}
	if err := script(ctx, s.conn, "VACUUM "+table); err != nil {
		return err
	}
	did, err := t.read(ctx)
	if err != nil {
		return err
	}
	size, err := readTables(ctx, s.conn)
	if err != nil {
		return err
	}
	var ran int64
	if err := s.conn.QueryRow(ctx, `SELECT autovacuum_count FROM pg_stat_user_tables WHERE relname = $1`, table).Scan(&ran); err != nil {
		return err
	}
	s.say("%s: VACUUM %s in %v, WAL %.1f MB; autovacuum had run %d times; tables then %.1f MB", what, table, did["vacuum"].took.Round(time.Millisecond), mega(did["vacuum"].wal), ran, mega(size.all()))
	return nil
}

// anywhere is a generation of keys that is sealed, and then emptied.
func (s *sizes) anywhere(ctx context.Context, topic string, n int64) error {
	if err := s.vacuum(ctx, fmt.Sprintf("%s %d keys", topic, n), "idem_keys_1"); err != nil {
		return err
	}
	t, err := startTally(ctx, s.conn)
	if err != nil {
		return err
	}
	if err := script(ctx, s.conn, "UPDATE idem_key_gen SET opened_at = opened_at - interval '2 days'"); err != nil {
		return err
	}
	r, err := s.takeOver(ctx, topic, n)
	if err != nil {
		return err
	}
	if err := errors.Join(s.filter(r, topic, n), r.stop()); err != nil {
		return err
	}
	sealed, err := t.read(ctx)
	if err != nil {
		return err
	}
	if t, err = startTally(ctx, s.conn); err != nil {
		return err
	}
	if err := script(ctx, s.conn, "UPDATE idem_key_gen SET sealed_at = sealed_at - interval '5 days'"); err != nil {
		return err
	}
	if r, err = s.start(ctx, topic, 500); err != nil {
		return err
	}
	_, err = s.journal.wait("generations of keys dropped", func() error { return nil })
	emptied, more := t.read(ctx)
	if err := errors.Join(err, more, r.stop()); err != nil {
		return err
	}
	size, err := readTables(ctx, s.conn)
	s.say("%s %d keys: sealed in %v, emptied in %v, by an upkeep that took %v; tables then %.1f MB", topic, n, sealed["seal"].took.Round(100*time.Microsecond),
		emptied["forget"].took.Round(100*time.Microsecond), s.journal.upkeep.Round(time.Millisecond), mega(size.all()))
	return err
}

// filter waits for the filter of the generation that is sealed, and prints how long it took. The
// consumer learns of the seal by a batch.
func (s *sizes) filter(r *fed, topic string, n int64) error {
	few := func() error { return r.apply(partitions) }
	if _, err := s.journal.wait("generation of keys sealed", few); err != nil {
		return err
	}
	if err := r.apply(10 * partitions); err != nil {
		return err
	}
	before, began := heap(), time.Now()
	built, err := s.journal.wait("filter of sealed keys built", func() error { return nil })
	if err != nil {
		return err
	}
	s.say("%s %d keys: filter built in %v; %.1f MB of heap", topic, n, built.Time.Sub(began).Round(time.Millisecond), mega(heap()-before))
	began = time.Now()
	const behind = 100 * partitions * 500
	err = r.apply(behind)
	s.say("%s %d keys: with the filter %.0f records/s", topic, n, behind/time.Since(began).Seconds())
	return err
}
