package member_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// diary writes down every record that is applied, in order: nothing in the database refuses
// one that is applied twice.
type diary struct{ rows wire.Rows }

const diarySQL = `
INSERT INTO diary (partition, offs)
SELECT p, o FROM unnest($1::integer[], $2::integer[]) WITH ORDINALITY AS u(p, o, n) ORDER BY n`

func (d *diary) Add(b *wire.Batch, m *wire.Message) error {
	b.Puts(wire.Row("diary").Int(int64(m.Partition)).Int(m.Offset))
	r := d.rows.Row()
	r.Int4(m.Partition)
	r.Int4(int32(m.Offset))
	return nil
}

func (d *diary) Flush(b *wire.Batch) { b.Write(diarySQL, &d.rows) }

// called writes the same by a handler.
type called struct{ diary }

func (c *called) Add(b *wire.Batch, m *wire.Message) error {
	b.Call(m, wire.Call{Event: "Called", Fn: func(ctx context.Context, tx wire.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO diary (partition, offs) VALUES ($1, $2)`, m.Partition, m.Offset)
		return err
	}})
	return nil
}

// consumer is a deployment of the service "orders" whose transactions take half a second at
// most.
func consumer(t *testing.T, db *pgxpool.Pool) *idem.Consumer {
	return consumerOf(t, db, func() wire.Plan { return &diary{} })
}

func consumerOf(t *testing.T, db *pgxpool.Pool, plan func() wire.Plan) *idem.Consumer {
	t.Helper()
	return consumerOfTopic(t, db, wire.Topic{Name: topicName, StartFrom: wire.Earliest, NewPlan: plan})
}

func consumerOfTopic(t *testing.T, db *pgxpool.Pool, topic wire.Topic, options ...idem.Option) *idem.Consumer {
	t.Helper()
	const most = 10 * time.Second // on a busy machine, a handler may take long
	c, err := idem.New(db, wire.Service{
		Consumer: "orders", Schema: map[string]int{"core": 1, "keys": 1, "effects": 1}, Identity: wire.Identity{Writes: 1, Knows: []uint32{1}},
		Limits: wire.Limits{
			BatchEvents: 100, BatchBytes: 1 << 20, BatchWait: 20 * time.Millisecond, BatchTimeout: most, EventTimeout: most,
			StatementTimeout: most, LockTimeout: most, MaxPollInterval: time.Minute, MaxPayload: 1 << 10,
		},
		Topics: []wire.Topic{topic},
	}, append([]idem.Option{idem.WithLogger(textLogger(&testLog{}))}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inGroup reads in another group than that of the consumer's name.
type inGroup struct {
	idem.Source
	group string
}

func (s *inGroup) Run(ctx context.Context, sub idem.Subscription, sink idem.Sink) error {
	sub.Group = s.group
	return s.Source.Run(ctx, sub, sink)
}

func diaryDB(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db := idemtest.Migrated(t, filepath.Join("..", "..", "..", "templates", "sql"))
	idemtest.Exec(t, db, `CREATE TABLE diary (n bigint GENERATED ALWAYS AS IDENTITY, partition int NOT NULL, offs int NOT NULL)`)
	return db
}

// query answers with one number.
func query(t *testing.T, db *pgxpool.Pool, sql string) int {
	t.Helper()
	rows, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	n, err := pgx.CollectOneRow(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Two deployments read one topic in groups of their own, but have one consumer name: both are
// assigned all partitions, one applies a partition's records, and the other stands by and goes
// on when the first has ended.
func TestTwoGroupsUnderOneName(t *testing.T) {
	withEach(t, func(t *testing.T, k kind) {
		_, brokers := startCluster(t, 2)
		db := diaryDB(t)
		deploy := func(group string) (c *idem.Consumer, stop func()) {
			c = consumer(t, db)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- c.Run(ctx, &inGroup{open(t, brokers, k), group}) }()
			stop = func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			return c, stop
		}
		rows := func() int { return query(t, db, `SELECT count(*)::int FROM diary`) }
		fences := func() int { return query(t, db, `SELECT count(*)::int FROM idem_ledger WHERE kind = 'f'`) }
		blue, stopBlue := deploy("blue")
		produce(t, brokers, 100, 0, 1)
		eventually(t, "200 records", func() bool { return rows() == 200 })
		green, stopGreen := deploy("green")
		eventually(t, "green has taken both partitions over", func() bool { return fences() == 4 })
		n := 200
		for end := time.Now().Add(4 * time.Second); time.Now().Before(end); { // four times what makes a standing tail
			n += 100
			produce(t, brokers, 50, 0, 1)
			eventually(t, "100 records more", func() bool { return rows() == n })
		}
		if f := fences(); f > 6 {
			t.Errorf("%d fences: the deployments take the partitions from each other", f)
		}
		if b, g := standsIn(blue), standsIn(green); b+g != 2 {
			t.Errorf("blue stands by in %d partitions, green in %d, want 2 together", b, g)
		}
		stopGreen()
		produce(t, brokers, 1, 0, 1)
		eventually(t, "blue goes on", func() bool { return rows() == n+2 })
		stopBlue()
		if bad := query(t, db, `SELECT count(*)::int FROM (
			SELECT offs, row_number() OVER (PARTITION BY partition ORDER BY n) - 1 AS want FROM diary) d WHERE offs <> want`); bad > 0 {
			t.Errorf("%d records are not in their place", bad)
		}
	})
}

// standsIn is in how many partitions a deployment stands by.
func standsIn(c *idem.Consumer) int {
	return strings.Count(fmt.Sprint(c.Health().Err()), "STANDBY")
}
