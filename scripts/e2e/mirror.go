package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/examples/mirror"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/scripts/internal/stage"
	"github.com/idemgen/idemgen/testdata/golden/accepted/debezium_customers"
)

var mirrorChecks = []check{
	{name: "Debezium: a table is mirrored, and Connect is killed", connect: true, do: mirrored},
}

const (
	cdcPage = "docs/cdc.md"
	// crmSQL is the table of the page, with rows that are there before the connector is.
	crmSQL = `CREATE TABLE customers (
	id bigint PRIMARY KEY, email text NOT NULL, credit numeric(12,2), notes text, born_on date, seen_at timestamp,
	tags text[], settings jsonb, updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	credit_limit numeric(12,2), biography text);
	CREATE PUBLICATION crm_customers FOR TABLE customers;
	GRANT SELECT ON customers TO ` + role
	// keysChange is what the page wants of a table whose keys change. Without it large texts that do
	// not change are not sent.
	keysChange = `ALTER TABLE customers REPLICA IDENTITY FULL`
	// ofCRM and ofMirror are the rows as the same text.
	ofCRM    = `SELECT id, email, credit, notes, born_on, seen_at AT TIME ZONE 'UTC', tags, settings::text, updated_at FROM customers`
	ofMirror = `SELECT id, email, credit, notes, born_on, seen_at, tags, settings, updated_at FROM customers`
	// enveloped is what the service has that reads records with their schemas.
	ofEnveloped = `SELECT id, email, credit_limit, biography, born_on, updated_at FROM customers`
)

// follower is a service that mirrors the table, with a database of its own.
type follower struct {
	db       *database
	consumer *idem.Consumer
	stop     func() error
}

// follow starts the service of a folder.
func (k *kit) follow(ctx context.Context, folder string, service func(*pgxpool.Pool) (*idem.Consumer, error)) (_ *follower, err error) {
	f := &follower{stop: func() error { return nil }}
	if f.db, err = openDatabase(ctx, nil); err != nil {
		return nil, err
	}
	if err = f.db.Migrate(ctx, folder+"/migrations"); err == nil {
		f.consumer, err = service(f.db.pool)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.stop = k.consume(ctx, f.consumer)
	return f, nil
}

func (f *follower) close() error { return errors.Join(f.stop(), f.db.close()) }

// has waits until the rows of two databases are the same, and nothing is a dead letter.
func (f *follower) has(ctx context.Context, s *source, theirs, ours string) error {
	text := func(sql string) string {
		return `SELECT count(*)::int, coalesce(string_agg(t::text, E'\n' ORDER BY t.id), '') FROM (` + sql + `) t`
	}
	var want, got string
	var dead string
	err := stage.Until(ctx, patience, func() (bool, error) {
		var n int
		err := errors.Join(s.pool.QueryRow(ctx, text(theirs)).Scan(&n, &want), f.db.pool.QueryRow(ctx, text(ours)).Scan(&n, &got),
			f.db.pool.QueryRow(ctx, `SELECT coalesce(min(reason), '') FROM idem_dead_letter`).Scan(&dead))
		return want == got && dead == "", err
	})
	if err != nil {
		err = fmt.Errorf("%w: %s; dead letters: %q; health: %v", err, firstDifference(want, got), dead, f.consumer.Health().Err())
	}
	return err
}

// firstDifference returns the first row in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("the row is\n%.300s\nand its mirror\n%.300s", w[i], g[i])
		}
	}
	return fmt.Sprintf("there are %d rows, and %d in the mirror", len(w), len(g))
}

// mirrored has Debezium send the changes of a table by the configuration of the page, once without
// and once with their schemas, to a service each. It kills Connect, whose resends must change
// nothing. Then a snapshot is repeated: the page says what that leaves, and how to remove it.
func mirrored(ctx context.Context, k *kit) (_ string, err error) {
	s, err := k.source()
	if err != nil {
		return "", err
	}
	if _, err := s.pool.Exec(ctx, crmSQL); err != nil {
		return "", err
	}
	w := &crm{s: s, random: rand.New(rand.NewPCG(1, 2))}
	if err := w.write(ctx, 200); err != nil {
		return "", err
	}
	before := w.changes
	plain, err := k.follow(ctx, "examples/mirror", func(db *pgxpool.Pool) (*idem.Consumer, error) { return mirror.NewConsumer(db) })
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, plain.close()) }()
	enveloped, err := k.follow(ctx, "testdata/golden/accepted/debezium_customers", func(db *pgxpool.Pool) (*idem.Consumer, error) { return customers.NewConsumer(db) })
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, enveloped.close()) }()
	if err := w.connectBusy(ctx); err != nil {
		return "", err
	}
	for i := range 40 {
		if err := w.write(ctx, 50); err != nil {
			return "", err
		}
		if i == 10 {
			if _, err := s.pool.Exec(ctx, keysChange); err != nil {
				return "", err
			}
			w.rekeys = true
		}
		if i == 20 {
			if err := errors.Join(plain.some(ctx), w.streams(ctx, "crm"), w.streams(ctx, "shop")); err != nil {
				return "", err
			}
			if err := s.connect.Crash(); err != nil {
				return "", err
			}
		}
	}
	if err := s.connect.Restart(ctx); err != nil {
		return "", err
	}
	if err := errors.Join(s.begin(ctx), w.connect(ctx)); err != nil {
		return "", err
	}
	if err := plain.has(ctx, s, ofCRM, ofMirror); err != nil {
		return "", fmt.Errorf("%w; %s", err, w.stands(ctx, "crm"))
	}
	if err := enveloped.has(ctx, s, ofEnveloped, ofEnveloped); err != nil {
		return "", fmt.Errorf("with schemas: %w; %s", err, w.stands(ctx, "shop"))
	}
	n, err := s.count(ctx, `SELECT count(*) FROM customers`)
	if err != nil {
		return "", err
	}
	gone, err := w.repeat(ctx, plain)
	return fmt.Sprintf("%d rows are the same in two mirrors behind %d changes, %d of them before the snapshot; a second snapshot left %d rows, which the page removes",
		n, w.changes, before, gone), err
}

// repeat has the connector take its snapshot once more, as one does that died before it had stored
// the end of the first. Rows that were deleted meanwhile stay in the mirror, until the statement
// of the page removes them. It returns how many they were.
func (w *crm) repeat(ctx context.Context, mirror *follower) (int64, error) {
	if err := w.s.connect.Forget(ctx, "mirror-crm"); err != nil {
		return 0, err
	}
	var again string
	for _, sql := range []string{`DELETE FROM customers WHERE id % 3 = 0`, `CHECKPOINT`} {
		if _, err := w.s.pool.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	if err := w.s.pool.QueryRow(ctx, `SELECT clock_timestamp()::text`).Scan(&again); err != nil {
		return 0, err
	}
	if err := errors.Join(w.s.connect.Resume(ctx, "mirror-crm"), w.streams(ctx, "crm"), w.write(ctx, 50)); err != nil {
		return 0, err
	}
	if err := mirror.has(ctx, w.s, ofCRM, ofMirror+` WHERE source_at >= '`+again+`'`); err != nil {
		return 0, fmt.Errorf("behind a second snapshot: %w; %s", err, w.stands(ctx, "crm"))
	}
	page, err := os.ReadFile(cdcPage)
	if err != nil {
		return 0, err
	}
	statement := regexp.MustCompile("`(DELETE FROM customers WHERE source_at < )TIME`").FindSubmatch(page)
	if statement == nil {
		return 0, errors.New(cdcPage + " has no statement that removes rows")
	}
	removed, err := mirror.db.pool.Exec(ctx, string(statement[1])+"'"+again+"'")
	if err == nil && removed.RowsAffected() == 0 {
		err = errors.New("no deleted row stayed in the mirror, and " + cdcPage + " says that they do")
	}
	return removed.RowsAffected(), errors.Join(err, mirror.has(ctx, w.s, ofCRM, ofMirror))
}

// stands says where a connector and its slot are.
func (w *crm) stands(ctx context.Context, prefix string) string {
	state, why, err := w.s.connect.Status(ctx, "mirror-"+prefix)
	at, failed := w.s.connect.Offsets(ctx, "mirror-"+prefix)
	var slot string
	err = errors.Join(err, failed, w.s.pool.QueryRow(ctx, `SELECT coalesce(min(s::text), 'none') || ' of ' || pg_current_wal_lsn()
		FROM pg_replication_slots s WHERE slot_name LIKE $1`, prefix+"%").Scan(&slot))
	return fmt.Sprintf("connector: %s %s; offsets: %s; slot: %s; %v", state, why, at, slot, err)
}

// streams waits until a connector has stored the end of its snapshot: otherwise it would take
// another one.
func (w *crm) streams(ctx context.Context, prefix string) error {
	var at string
	err := stage.Until(ctx, patience, func() (ok bool, err error) {
		at, err = w.s.connect.Offsets(ctx, "mirror-"+prefix)
		return strings.Contains(at, `"lsn"`) && !strings.Contains(at, `"snapshot`), err
	})
	if err != nil {
		err = fmt.Errorf("connector mirror-%s is at %s: %w", prefix, at, err)
	}
	return err
}

// some waits until a mirror has rows that are newer than the snapshot.
func (f *follower) some(ctx context.Context) error {
	return stage.Until(ctx, patience, func() (bool, error) {
		n, err := f.db.count(ctx, `SELECT count(DISTINCT source_at) FROM customers`)
		return n > 10, err
	})
}

// crm is the database whose table is mirrored.
type crm struct {
	s       *source
	random  *rand.Rand
	rekeys  bool // keys of rows change, too
	changes int
}

// connectBusy is connect while a transaction is open that has changed rows: the snapshot does not
// have them, and their changes come behind it, with numbers of the log before it. Postgres begins
// to decode behind the end of all transactions that it found open, so it takes three of them.
func (w *crm) connectBusy(ctx context.Context) error {
	if _, err := w.s.pool.Exec(ctx, `INSERT INTO customers (id, email) SELECT n, 'late' FROM generate_series(5001, 5003) n`); err != nil {
		return err
	}
	first, err := w.begin(ctx, `SELECT pg_current_xact_id()`)
	if err != nil {
		return err
	}
	connected := make(chan error, 1)
	go func() { connected <- w.connect(ctx) }()
	for _, sql := range []string{`SELECT pg_current_xact_id()`, `WITH gone AS (DELETE FROM customers WHERE id = 5001) UPDATE customers SET email = 'later' WHERE id = 5002`} {
		if err := w.awaited(ctx, first); err != nil {
			return err
		}
		next, err := w.begin(ctx, sql)
		if err != nil {
			return err
		}
		if err := first.Commit(ctx); err != nil {
			return err
		}
		first = next
	}
	err = stage.Until(ctx, patience, func() (bool, error) {
		n, err := w.s.count(ctx, `SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'crm_customers' AND confirmed_flush_lsn IS NOT NULL`)
		return n == 1, err
	})
	if err != nil {
		return err
	}
	if err := first.Commit(ctx); err != nil {
		return err
	}
	return <-connected
}

// begin begins a transaction with a statement.
func (w *crm) begin(ctx context.Context, sql string) (pgx.Tx, error) {
	tx, err := w.s.pool.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, sql)
	}
	return tx, err
}

// awaited waits until a slot that is made waits for the end of a transaction.
func (w *crm) awaited(ctx context.Context, tx pgx.Tx) error {
	var id string
	if err := tx.QueryRow(ctx, `SELECT pg_current_xact_id()::text`).Scan(&id); err != nil {
		return err
	}
	err := stage.Until(ctx, patience, func() (bool, error) {
		n, err := w.s.count(ctx, `SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid::text = $1`, id)
		return n == 1, err
	})
	if err != nil {
		err = fmt.Errorf("no slot waits for transaction %s: %w", id, err)
	}
	return err
}

// connect gives the worker the connector of the page, and one like it that writes schemas, too.
func (w *crm) connect(ctx context.Context) error {
	page, err := os.ReadFile(cdcPage)
	if err != nil {
		return err
	}
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if block == nil {
		return errors.New(cdcPage + " has no configuration")
	}
	settings := map[string]string{}
	if err := json.Unmarshal(block[1], &settings); err != nil {
		return fmt.Errorf("%s: %w", cdcPage, err)
	}
	at := w.s.pool.Config().ConnConfig
	settings["database.hostname"], settings["database.port"] = at.Host, fmt.Sprint(at.Port)
	settings["database.user"], settings["database.dbname"] = role, at.Database
	settings["database.password"] = "${env:IDEM_OUTBOX_PASSWORD}"
	if err := w.put(ctx, settings); err != nil {
		return err
	}
	settings["topic.prefix"], settings["slot.name"] = "shop", "shop_customers"
	settings["key.converter.schemas.enable"], settings["value.converter.schemas.enable"] = "true", "true"
	return w.put(ctx, settings)
}

func (w *crm) put(ctx context.Context, settings map[string]string) error {
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	name := "mirror-" + settings["topic.prefix"]
	if err := w.s.connect.Put(ctx, name, text); err != nil {
		return err
	}
	var why string
	err = stage.Until(ctx, patience, func() (bool, error) {
		state, trace, err := w.s.connect.Status(ctx, name)
		why = state + " " + trace
		return err == nil && state == "RUNNING", nil
	})
	if err != nil {
		return fmt.Errorf("connector %s: %w\n%s", name, err, why)
	}
	return nil
}

// write makes n changes, some of them to one row in one transaction.
func (w *crm) write(ctx context.Context, n int) error {
	for range n {
		id := 1 + w.random.IntN(120)
		var sql string
		switch w.random.IntN(8) {
		case 0:
			sql = `DELETE FROM customers WHERE id = $1`
		case 1:
			sql = `UPDATE customers SET credit = credit - 0.25, credit_limit = NULL, updated_at = clock_timestamp() WHERE id = $1`
		case 2: // the large texts are not sent
			sql = `UPDATE customers SET email = email || '.', updated_at = clock_timestamp() WHERE id = $1`
		case 3: // another key: a row goes, and one comes
			if !w.rekeys {
				continue
			}
			sql = `UPDATE customers SET id = id + 1000 WHERE id = $1 AND NOT EXISTS (SELECT FROM customers WHERE id = $1 + 1000)`
		case 4:
			sql = `WITH first AS (UPDATE customers SET notes = NULL, tags = NULL, born_on = NULL WHERE id = $1) SELECT 1`
		default: // large texts, which Postgres keeps outside of the row
			sql = `INSERT INTO customers VALUES ($1::bigint, 'c' || $1::bigint::text || '@example.org', random() * 1000 - 500, (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 400)),
				date '1931-05-07' + $1::bigint::int * 111, timestamp '1961-01-01 10:20:30.123456' + $1::bigint * interval '1 day', ARRAY['a', 'b"c', $1::bigint::text], '{"n": 1.50, "b": [true]}', clock_timestamp(),
				$1::bigint / 3.0, (SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 400)))
				ON CONFLICT (id) DO UPDATE SET credit = excluded.credit, notes = excluded.notes, biography = excluded.biography, updated_at = excluded.updated_at`
		}
		if _, err := w.s.pool.Exec(ctx, sql, id); err != nil {
			return err
		}
		w.changes++
	}
	return nil
}
