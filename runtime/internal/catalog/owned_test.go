package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/outbox"
	"github.com/idemgen/idemgen/templates"
)

// allMigrations returns the SQL files of the runtime and of the outbox, by name.
func allMigrations(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"relay": outbox.Migration(outbox.ByRelay), "debezium": outbox.Migration(outbox.ByDebezium), "dead letters": outbox.DeadLetterMigration(),
	}
	for _, part := range []string{"core", "keys", "effects"} {
		text, err := templates.SQL.ReadFile("sql/idem_" + part + "_1.sql")
		if err != nil {
			t.Fatal(err)
		}
		files[part] = string(text)
	}
	return files
}

// ownFunctions returns the names of all functions that the migrations make.
func ownFunctions(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, text := range allMigrations(t) {
		for _, m := range regexp.MustCompile(`CREATE OR REPLACE FUNCTION (\w+)`).FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 8 {
		t.Fatalf("found %q", names)
	}
	return names
}

// ownObjects returns the tables, the sequence and the functions of the runtime, as ALTER names
// them.
func ownObjects(t *testing.T, db *pgxpool.Pool) []string {
	t.Helper()
	names := strings.Split(rig.Query(t, db, `SELECT string_agg(what, ';') FROM (
SELECT 'TABLE ' || relname AS what FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname ~ '^idem_' AND relname !~ '^idem_keys_[0-9]'
UNION ALL SELECT 'SEQUENCE idem_fence' UNION ALL SELECT 'FUNCTION ' || p.oid::regprocedure FROM pg_proc p WHERE proname ~ '^idem_') x`), ";")
	if len(names) < 15 {
		t.Fatalf("found %q", names)
	}
	return names
}

// applyAs applies one file on a connection of its own.
func applyAs(t *testing.T, db *pgxpool.Pool, text string) error {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
	return err
}

// A function that another role made under one of the runtime's names stops each migration,
// whichever role applies it: the migration would replace its body, and the other role would stay
// its owner. So does an overload.
func TestMigrationsRefuseFunctionsOfOthers(t *testing.T) {
	t.Parallel()
	db := idemtest.DB(t)
	role, planter := stranger(t, db, "planter")
	_, owner := stranger(t, db, "owner")
	for _, name := range ownFunctions(t) {
		for _, args := range []string{"", "macaddr, lseg"} {
			idemtest.Exec(t, planter, fmt.Sprintf(`CREATE FUNCTION %s(%s) RETURNS int LANGUAGE sql AS 'SELECT 1'`, name, args))
			for file, text := range allMigrations(t) {
				for _, by := range []*pgxpool.Pool{owner, db} { // db's role is a superuser
					if err := applyAs(t, by, text); err == nil || !strings.Contains(err.Error(), name+"("+strings.ReplaceAll(args, " ", "")+") belongs to role "+role) {
						t.Errorf("%s(%s), migration %s: %v", name, args, file, err)
					}
				}
			}
			idemtest.Exec(t, planter, fmt.Sprintf(`DROP FUNCTION %s(%s)`, name, args))
		}
	}
}

// One role owns all tables and functions of the runtime, or roles that may do everything here
// anyway. No connection is used on which a statement would find those of another role.
func TestObjectsOfTheRuntimeHaveOneOwner(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	role, planter := stranger(t, db, "planter")
	first, _ := stranger(t, db, "first")
	idemtest.Exec(t, db, outbox.Migration(outbox.ByDebezium)+outbox.Migration(outbox.ByRelay)+outbox.DeadLetterMigration())
	found := func(text string) {
		t.Helper()
		conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		d, err := pgtable.Planted(t.Context(), conn)
		if err != nil || (d == nil) != (text == "") || d != nil && !strings.Contains(d.Text, text) {
			t.Errorf("found %v, %v; want %q", d, err, text)
		}
	}
	owned := ownObjects(t, db)
	for _, maker := range []string{"CURRENT_USER", first} { // a superuser, and a role that may only create objects
		for _, o := range owned {
			idemtest.Exec(t, db, `ALTER `+o+` OWNER TO `+maker)
		}
		found("")
		for _, o := range owned {
			idemtest.Exec(t, db, `ALTER `+o+` OWNER TO `+role)
			found(" belongs to role " + role)
			idemtest.Exec(t, db, `ALTER `+o+` OWNER TO `+maker)
		}
		for _, name := range ownFunctions(t) {
			idemtest.Exec(t, planter, fmt.Sprintf(`CREATE FUNCTION %s(macaddr, lseg) RETURNS int LANGUAGE sql AS 'SELECT 1'`, name))
			found("function " + name + "(macaddr,lseg) belongs to role " + role)
			idemtest.Exec(t, planter, fmt.Sprintf(`DROP FUNCTION %s(macaddr, lseg)`, name))
		}
	}
	for _, o := range owned {
		idemtest.Exec(t, db, `ALTER `+o+` OWNER TO CURRENT_USER`)
	}
	idemtest.Exec(t, planter, `CREATE FUNCTION idem_keys_seal(text, int, int, text) RETURNS void LANGUAGE sql AS ''`)
	if _, err := (rig.Service{}).Consumer(t, db).Own(t.Context(), rig.Topic, 0, 0); err == nil || !strings.Contains(err.Error(), "function idem_keys_seal(text,integer,integer,text) belongs to role "+role) {
		t.Errorf("the service started: %v", err)
	}
}

// A role gains no trust by a table under one of the runtime's names that this database lacks.
func TestTableUnderAFreeNameGainsNoTrust(t *testing.T) {
	t.Parallel()
	for free, made := range map[string]string{"idem_outbox": "core", "idem_schema": "relay", "idem_lease": "core"} {
		db := idemtest.DB(t)
		role, planter := stranger(t, db, "planter_"+made+"_"+free)
		if err := applyAs(t, db, allMigrations(t)[made]); err != nil {
			t.Fatal(err)
		}
		idemtest.Exec(t, planter, `CREATE TABLE `+free+` ()`)
		d, err := pgtable.Planted(t.Context(), db)
		if err != nil || d == nil || !strings.Contains(d.Text, free+" belongs to role "+role) {
			t.Errorf("%s: found %v, %v", free, d, err)
		}
	}
}

// Statements name the types of their arguments, so they call the runtime's functions even if
// another role makes overloads that fit texts better, between two looks for such.
func TestOverloadsOfTheRuntimesFunctionsAreNotCalled(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	_, planter := stranger(t, db, "planter")
	for name, args := range map[string]string{"idem_keys_open": "text, text", "idem_keys_seal": "text, text, text, text", "idem_keys_forget": "text, text"} {
		idemtest.Exec(t, planter, fmt.Sprintf(`CREATE FUNCTION %s(%s) RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.called VALUES ('%s', current_user); END $$`, name, args, name))
	}
	conn, err := pgx.ConnectConfig(t.Context(), db.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	err = generation.First(t.Context(), conn, "c", 0)
	next, prepared := generation.Prepare(t.Context(), conn)
	rotated := generation.Rotate(t.Context(), conn, "c", 1, next, time.Hour, time.Second)
	_, dropped := generation.Drop(t.Context(), conn, "c", []int32{1}, time.Second)
	if err := errors.Join(err, prepared, rotated, dropped); err != nil {
		t.Error(err)
	}
	rig.Want(t, "called", called(t, db), "")
	rig.Want(t, "generations", rig.Query(t, db, `SELECT string_agg(gen::text, ' ') FROM idem_key_gen`), "2")
}
