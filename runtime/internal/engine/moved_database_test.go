package engine_test

import (
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A database that was moved without its sequences, as logical replication does it, draws no
// fencing token and no number of a stream again: a start moves the one, and a new partition passes
// the others.
func TestDatabaseThatWasMovedWithoutItsSequences(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	var p rig.Provider
	s := p.Service(rig.Interrupts)
	c := s.Consumer(t, db)
	w := rig.Own(t, c)
	for range 20 { // numbers that other uses of the sequence have drawn
		idemtest.Exec(t, db, `SELECT nextval('idem_fence')`)
	}
	rig.Apply(t, w, rig.Records(0, "a: effect 1", "b: effect 2"))
	for n := range int32(3) {
		if _, err := c.Own(t.Context(), rig.Topic, 1+n, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	most := rig.Query(t, db, `SELECT max(fence)::text FROM idem_lease`)
	idemtest.Exec(t, db, `SELECT setval('idem_fence', 1, false)`)
	idemtest.Exec(t, db, `ALTER TABLE idem_stream ALTER COLUMN stream RESTART`)

	moved := s.Consumer(t, db)
	if _, err := moved.Own(t.Context(), rig.Topic, 9, 0); err != nil {
		t.Errorf("a new partition: %v", err)
	}
	w = rig.Own(t, moved)
	rig.Apply(t, w, rig.Records(2, "c: effect 3"))
	rig.Want(t, "the next token is greater", rig.Query(t, db, `SELECT (max(fence) > `+most+`)::text FROM idem_lease`), "true")
	rig.Want(t, "streams", rig.Query(t, db, `SELECT count(*)::text FROM idem_stream`), "5")

	const far = "4000000000000000"
	idemtest.Exec(t, db, `UPDATE idem_lease SET fence = `+far+` WHERE fence = `+most)
	rig.Apply(t, rig.Own(t, s.Consumer(t, db)), rig.Records(3, "d: effect 4"))
	rig.Want(t, "the next token after one that is far ahead", rig.Query(t, db, `SELECT (max(fence) > `+far+`)::text FROM idem_lease`), "true")
}

// A database is moved by logical replication as docs/moves.md says, with a sealed generation of
// keys, while keys of all partitions are claimed, and claims of a transaction that ended early are
// deleted.
func TestDatabaseThatIsMovedByLogicalReplication(t *testing.T) {
	rig.Lengthy(t)
	server, err := idemtest.StartPostgres(t.Context(), idemtest.PostgresOptions{TCP: true, Conf: map[string]string{"wal_level": "logical"}})
	rig.Do(t, func() error { return err })
	t.Cleanup(func() { _ = server.Close() })
	open := func(url string) *pgxpool.Pool {
		db, err := pgxpool.New(t.Context(), url)
		rig.Do(t, func() error { return err })
		t.Cleanup(db.Close)
		rig.Migrate(t, db)
		return db
	}
	from := open(server.URL())
	idemtest.Exec(t, from, `CREATE DATABASE moved`)
	address, err := url.Parse(server.URL())
	rig.Do(t, func() error { return err })
	address.Path = "/moved"
	to := open(address.String())

	c := rig.Service{}.Consumer(t, from)
	w := rig.Own(t, c)
	rig.Apply(t, w, rig.Records(0, "z: put 9 9"))
	rig.Rotate(t, from, c)
	rig.Apply(t, w, rig.Records(1, "a: put 1 1", "b: put 2 2"))
	idemtest.Exec(t, from, `CREATE PUBLICATION move FOR ALL TABLES WITH (publish_via_partition_root)`)
	idemtest.Exec(t, from, `SELECT pg_create_logical_replication_slot('move', 'pgoutput')`)
	idemtest.Exec(t, to, `DELETE FROM idem_schema`) // a copy of the tables has no rows
	idemtest.Exec(t, to, `SELECT idem_keys_prepare();
CREATE TRIGGER idem_keys_sealed BEFORE INSERT ON idem_keys_1 FOR EACH ROW EXECUTE FUNCTION idem_keys_sealed();
CREATE TABLE idem_keys_2 (LIKE idem_keys, PRIMARY KEY (key));
ALTER TABLE idem_keys_2 REPLICA IDENTITY FULL;
ALTER TABLE idem_keys ATTACH PARTITION idem_keys_2 FOR VALUES IN (2)`)
	idemtest.Exec(t, to, `CREATE SUBSCRIPTION move CONNECTION '`+server.URL()+`' PUBLICATION move WITH (create_slot = false)`)
	rig.Within(t, "what was there is copied", func() bool {
		return rig.Query(t, to, `SELECT (count(*) > 0 AND bool_and(srsubstate = 'r'))::text FROM pg_subscription_rel`) == "true"
	})
	idemtest.Exec(t, from, `DELETE FROM idem_keys WHERE gen = 2 AND key = (SELECT key FROM idem_keys WHERE gen = 2 ORDER BY key LIMIT 1)`)
	rig.Apply(t, w, rig.Records(3, "c: put 3 3", "d: put 4 4"))
	const keys = `SELECT string_agg(gen || ' ' || key, ', ' ORDER BY key) FROM idem_keys`
	rig.Within(t, "the keys are there", func() bool {
		var moved *string
		if err := to.QueryRow(t.Context(), keys).Scan(&moved); err != nil {
			t.Fatal(err)
		}
		return moved != nil && *moved == rig.Query(t, from, keys)
	})
	rig.Within(t, "and so are the rows and the ledger", func() bool {
		return rig.Table(t, to) == rig.Table(t, from) && rig.Query(t, to, `SELECT count(*)::text FROM idem_ledger`) == rig.Query(t, from, `SELECT count(*)::text FROM idem_ledger`)
	})
	idemtest.Exec(t, to, `DROP SUBSCRIPTION move`)
}
