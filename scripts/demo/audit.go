package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/resolve"
	"github.com/idemgen/idemgen/schema"
)

// audit replays the log by the oracle, which reads the spec and shares no code with the
// runtime or the generated service, and compares every row and every dead letter.
func audit(ctx context.Context, db *pgxpool.Pool, log *shopLog) (*report, error) {
	service, err := readSpec()
	if err != nil {
		return nil, err
	}
	in := oracle.New(service)
	in.Handle("OrderPaid", addPayment)
	r := &report{causes: map[cause]int{}}
	for _, e := range log.records {
		r.count(e, in.Apply(recordOf(e)))
	}
	for _, t := range service.Tables {
		c, err := compareTable(ctx, db, in, t)
		if err != nil {
			return nil, err
		}
		r.tables = append(r.tables, c)
	}
	if err := r.readLedger(ctx, db); err != nil {
		return nil, err
	}
	return r, r.compareLetters(ctx, db, in)
}

func readSpec() (*model.Service, error) {
	file := filepath.Join(example, "idemgen.yaml")
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec, problems := schema.Load(filepath.ToSlash(file), src)
	if spec == nil {
		return nil, fmt.Errorf("%s: %v", file, problems)
	}
	service, more := resolve.Resolve(spec)
	if service == nil {
		return nil, fmt.Errorf("%s: %v", file, more)
	}
	return service, nil
}

func recordOf(e entry) oracle.Record {
	m := e.message
	r := oracle.Record{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset, Time: m.Time, Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		r.Headers = append(r.Headers, oracle.Header{Name: h.Name, Value: h.Value})
	}
	return r
}

// addPayment says what the service's handler of OrderPaid does, in the oracle's words.
func addPayment(t *oracle.Tables, e oracle.Values) error {
	where := oracle.Row{"order_id": e.Get("order_id")}
	paid, err := t.Select("orders", "paid", where)
	if err != nil || len(paid) != 1 {
		return errors.Join(err, fmt.Errorf("%d orders", len(paid)))
	}
	sum, ok1 := new(big.Rat).SetString(paid[0])
	amount, ok2 := new(big.Rat).SetString(e.Text("amount"))
	if !ok1 || !ok2 {
		return errors.New("not a number")
	}
	_, err = t.Update("orders", where, oracle.Row{"paid": sum.Add(sum, amount).FloatString(2)})
	return err
}

// tableCount compares one table: rows that should be there and are not, and the other way.
type tableCount struct {
	name                            string
	expected, found, missing, extra int
}

func compareTable(ctx context.Context, db *pgxpool.Pool, in *oracle.Interpreter, t *model.Table) (tableCount, error) {
	want := in.Rows(t.Name)
	rows, err := db.Query(ctx, selectRows(t, in.Columns(t.Name)))
	if err != nil {
		return tableCount{}, err
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return tableCount{}, err
	}
	missing, extra := difference(want, got)
	return tableCount{t.Name, len(want), len(got), len(missing), len(extra)}, nil
}

// selectRows prints rows as the oracle does, by Postgres' own functions.
func selectRows(t *model.Table, columns []string) string {
	line := "''"
	for _, c := range t.Columns {
		if !slices.Contains(columns, c.Name) {
			continue
		}
		name := pgx.Identifier{c.Name}.Sanitize()
		text := name + "::text"
		switch c.Type.Kind {
		case model.ColText, model.ColVarchar:
			text = "to_json(" + name + ")::text"
		case model.ColTimestamptz:
			text = "to_char(" + name + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
		}
		line += " || '  " + c.Name + "=' || coalesce(" + text + ", 'NULL')"
	}
	return "SELECT substr(" + line + ", 3) FROM " + pgx.Identifier{t.Name}.Sanitize()
}

// difference are the lines of a that b lacks, and the other way.
func difference(a, b []string) (onlyA, onlyB []string) {
	count := map[string]int{}
	for _, l := range a {
		count[l]++
	}
	for _, l := range b {
		if count[l] > 0 {
			count[l]--
			continue
		}
		onlyB = append(onlyB, l)
	}
	for _, l := range a {
		if count[l] > 0 {
			count[l]--
			onlyA = append(onlyA, l)
		}
	}
	return onlyA, onlyB
}
