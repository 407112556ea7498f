package handler_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// A callback gets its statement's error however it reads the result. It is not called if there is
// no result.
func TestCallbackHearsOfItsStatementsError(t *testing.T) {
	t.Parallel()
	reads := map[string]func(of pgx.BatchResults) error{
		"Exec": func(of pgx.BatchResults) error { _, err := of.Exec(); return err },
		"Query": func(of pgx.BatchResults) error {
			rows, err := of.Query()
			if err == nil {
				rows.Close()
				err = rows.Err()
			}
			return err
		},
		"QueryRow": func(of pgx.BatchResults) error { return of.QueryRow().Scan(new(int)) },
		"Close":    func(of pgx.BatchResults) error { return of.Close() },
	}
	const divided, uncalled, none, bad = "SQLSTATE 22012", "it is not called", "<nil>", "any"
	statements := map[string]map[string]string{ // to what each way hears
		`SELECT 1 / 0`: {"Exec": uncalled},
		`SELECT 1 / (2 - n) FROM generate_series(1, 2) AS n`: {"Exec": divided, "Query": divided, "QueryRow": divided, "Close": divided},
		`SELECT 1 / (1 - n) FROM generate_series(1, 1) AS n`: {"QueryRow": uncalled},
		`SELECT 7`:             {"Exec": none, "Query": none, "QueryRow": none, "Close": none},
		`SELECT 7 WHERE false`: {"Exec": none, "Query": none, "QueryRow": pgx.ErrNoRows.Error(), "Close": none},
		`SELECT 'x'`:           {"Exec": none, "Query": none, "QueryRow": bad, "Close": none},
	}
	db := rig.Database(t)
	var sql string
	var read func(of pgx.BatchResults) error
	var heard []error
	c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		tx.Queue(sql).Fn = func(of pgx.BatchResults) error {
			heard = append(heard, read(of))
			return nil
		}
		return nil
	}}.Consumer(t, db)
	w := rig.Own(t, c)
	next, dead := int64(0), 0
	for statement, hears := range statements {
		for way, want := range hears {
			sql, read, heard = statement, reads[way], nil
			rig.Apply(t, w, rig.Records(next, "call 1"))
			if next++; want == divided || want == uncalled {
				dead++
			}
			got, err := uncalled, errors.Join(heard...)
			if pg, is := errors.AsType[*pgconn.PgError](err); is {
				got = "SQLSTATE " + pg.Code
			} else if len(heard) == 1 {
				got = fmt.Sprint(heard[0])
			}
			if got != want && (want != bad || err == nil) {
				t.Errorf("%s of %s: heard %s, want %s", way, statement, got, want)
			}
		}
	}
	rig.Want(t, "dead letters", rig.Query(t, db, `SELECT count(*)::text FROM idem_dead_letter`), fmt.Sprint(dead))
}

// The ids of a handler's events end with the call: a goroutine that is left behind gets none.
func TestEventIDsEndWithTheCall(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	ids := map[[16]byte]int{}
	var next func(subject string) [16]byte
	c := rig.Service{Handle: func(_ context.Context, tx idem.Tx, _ int32) error {
		next = tx.(interface{ OutboxID(string) [16]byte }).OutboxID
		ids[next("a")]++
		ids[next("a")]++
		ids[next("b")]++
		return nil
	}}.Consumer(t, db)
	rig.Apply(t, rig.Own(t, c), rig.Records(0, "call 1"))
	if len(ids) != 3 || ids[[16]byte{}] > 0 {
		t.Errorf("ids %x", ids)
	}
	if id := next("a"); id != [16]byte{} {
		t.Errorf("id %x after the call", id)
	}
}
