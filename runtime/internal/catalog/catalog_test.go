package catalog_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// encoded returns a database with an encoding of its own, and the tables of the runtime.
func encoded(t *testing.T, encoding string) *pgxpool.Pool {
	t.Helper()
	db := idemtest.DB(t)
	name := db.Config().ConnConfig.Database + "_" + strings.ToLower(encoding)
	idemtest.Exec(t, db, `CREATE DATABASE `+name+` ENCODING '`+encoding+`' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
	t.Cleanup(func() {
		if _, err := db.Exec(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	cfg := db.Config()
	cfg.ConnConfig.Database = name
	other, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	rig.Migrate(t, other)
	return other
}

// A database that stores other texts than were sent is refused at start, by the name of its
// encoding. SQL_ASCII takes any bytes, and so says nothing of what is in them.
func TestOtherEncodingsAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		t.Run(encoding, func(t *testing.T) {
			err := rig.Service{}.Consumer(t, encoded(t, encoding)).Run(t.Context(), rig.NewSource(nil))
			if err == nil || !strings.Contains(err.Error(), "encoding is "+encoding) || !strings.Contains(err.Error(), "ENCODING 'UTF8'") {
				t.Errorf("got %v", err)
			}
		})
	}
	rig.Apply(t, rig.Own(t, rig.Service{}.Consumer(t, encoded(t, "UTF8"))), rig.Records(0, "put 1 1"))
}

func withTable(table wire.Table) func(*wire.Service) {
	return func(s *wire.Service) { s.Tables, s.Topics[0].Writes = []wire.Table{table}, []string{table.Name} }
}

// An unlogged table loses rows after the position in a crash: start is refused.
func TestUnloggedTablesAreRefused(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `ALTER TABLE t SET UNLOGGED`)
	plain := wire.Table{Name: "t", Unique: [][]string{{"id"}}}
	err := rig.Service{Edit: withTable(plain)}.Consumer(t, db).Run(t.Context(), rig.NewSource(nil))
	if err == nil || !strings.Contains(err.Error(), "table public.t is unlogged") {
		t.Errorf("got %v", err)
	}
	idemtest.Exec(t, db, `ALTER TABLE t SET LOGGED; ALTER TABLE idem_dead_letter SET UNLOGGED`)
	if _, err := (rig.Service{Edit: withTable(plain)}).Consumer(t, db).Own(t.Context(), rig.Topic, 1, 0); err == nil || !strings.Contains(err.Error(), "the runtime's table public.idem_dead_letter is unlogged") {
		t.Errorf("got %v", err)
	}
}

// Citus commits the rows of its tables on each server separately: start is refused, for a table of
// the spec and for one of the runtime. Here its list is made by hand.
func TestTablesOfCitusAreRefused(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	const list = `SET LOCAL allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY)`
	idemtest.Exec(t, db, list)
	consumer := rig.Service{Edit: withTable(wire.Table{Name: "t", Unique: [][]string{{"id"}}})}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, consumer), rig.Records(0, "put 1 1"))
	consumer.Close() // the next use opens connections again
	for table, want := range map[string]string{"t": "table public.t is a table of Citus", "idem_ledger": "the runtime's table public.idem_ledger is a table of Citus"} {
		idemtest.Exec(t, db, `DELETE FROM pg_catalog.pg_dist_partition; INSERT INTO pg_catalog.pg_dist_partition VALUES ('`+table+`')`)
		err := rig.Service{Edit: withTable(wire.Table{Name: "t", Unique: [][]string{{"id"}}})}.Consumer(t, db).Run(t.Context(), rig.NewSource(nil))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "SELECT undistribute_table('public."+table+"')") {
			t.Errorf("%s: got %v", table, err)
		}
	}
}

// What was found is told once, and again when it is another.
func TestFindingsAreToldOnce(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	idemtest.Exec(t, db, `CREATE TABLE p (id integer PRIMARY KEY); ALTER TABLE t ADD CONSTRAINT late FOREIGN KEY (id) REFERENCES p DEFERRABLE INITIALLY DEFERRED`)
	var log bytes.Buffer
	c := rig.Service{Edit: withTable(wire.Table{Name: "t", Unique: [][]string{{"id"}}}), Options: []idem.Option{idem.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}}.Consumer(t, db)
	rig.Own(t, c)
	c.Close() // the next use opens connections again
	idemtest.Exec(t, db, `INSERT INTO p SELECT generate_series(1, 9)`)
	w := rig.Own(t, c)
	for text, n := range map[string]int{"constraint late is checked": 1, `need more waves: batches have more statements" consumer=test table=t because="check constraint t_v_check"`: 1} {
		if got := strings.Count(log.String(), text); got != n {
			t.Errorf("%q is said %d times, want %d: %s", text, got, n, log.String())
		}
	}
	rig.Trigger(t, db, `NULL`)
	time.Sleep(time.Second) // connections that are opened within one share an answer
	c.Close()
	rig.Apply(t, w, rig.Records(0, "put 1 1"))
	if !strings.Contains(log.String(), "apart=records") {
		t.Errorf("a new trigger was not noticed: %s", log.String())
	}
}
