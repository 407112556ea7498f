package idem_test

import (
	"math"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

const everyTypeSQL = `
SELECT row_to_json(r)::text FROM (
	SELECT
		unnest($1::uuid[]) AS uuid,
		unnest($2::text[]) AS text,
		unnest($3::boolean[]) AS bool,
		unnest($4::integer[])::bigint AS int4,
		unnest($5::bigint[]) AS int8,
		unnest($6::double precision[]) AS float8,
		unnest($7::numeric[])::text AS numeric,
		unnest($8::timestamptz[]) AS time,
		unnest($9::timestamp[]) AS timestamp,
		unnest($10::date[]) AS date,
		unnest($11::bytea[]) AS bytea,
		unnest($12::jsonb[]) AS jsonb,
		unnest($13::json[]) AS json,
		unnest($14::text[])::text[] AS texts,
		unnest($15::text[])::integer[] AS int4s,
		unnest($16::text[])::bigint[] AS int8s,
		unnest($17::text[])::uuid[] AS uuids
) AS r`

func everyType(r *wire.Rows) {
	row := r.Row()
	row.UUID(wire.UUID{1, 15: 2})
	row.Text(`a"b\é`)
	row.Bool(true)
	row.Int4(-5)
	row.Int8(math.MinInt64)
	row.Float8(-1.5)
	row.Numeric(wire.MustDecimal("-123456789012345678901234567890.000012300"))
	row.Time(time.Date(2024, 2, 29, 13, 0, 0, 123456999, time.FixedZone("", 3600)))
	t, _ := wire.ParseLocalTime("0001-01-01T00:00:00.5")
	row.Timestamp(t)
	d, _ := wire.ParseDate("2024-02-29")
	row.Date(d)
	row.Bytea([]byte{0, 255})
	row.JSONB([]byte(` {"b":1, "a":[null,1.50]}`))
	row.JSON([]byte(`{"b":1, "a":[null,1.50]}`))
	row.TextArray([]string{`a"b\c`, "", "NULL", " {},é", "null"})
	row.Int4Array([]int32{1, -2})
	row.Int8Array([]int64{math.MaxInt64})
	row.UUIDArray([]wire.UUID{{15: 1}})
}

func everyNull(r *wire.Rows) {
	row := r.Row()
	wire.OrNull(row, row.UUID, nil)
	wire.OrNull(row, row.Text, nil)
	wire.OrNull(row, row.Bool, nil)
	wire.OrNull(row, row.Int4, nil)
	wire.OrNull(row, row.Int8, nil)
	wire.OrNull(row, row.Float8, nil)
	wire.OrNull(row, row.Numeric, nil)
	wire.OrNull(row, row.Time, nil)
	wire.OrNull(row, row.Timestamp, nil)
	wire.OrNull(row, row.Date, nil)
	wire.SliceOrNull(row, row.Bytea, nil)
	wire.SliceOrNull(row, row.JSONB, nil)
	wire.SliceOrNull(row, row.JSON, nil)
	wire.SliceOrNull(row, row.TextArray, nil)
	wire.SliceOrNull(row, row.Int4Array, nil)
	wire.SliceOrNull(row, row.Int8Array, nil)
	wire.SliceOrNull(row, row.UUIDArray, nil)
}

// Postgres takes every parameter type as it is sent, and every value arrives.
func TestRowsReachPostgres(t *testing.T) {
	db := idemtest.DB(t)
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	if _, err := conn.Exec(t.Context(), "SET TimeZone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Prepare(t.Context(), "every", everyTypeSQL, nil); err != nil {
		t.Fatal(err)
	}
	var r wire.Rows
	everyType(&r)
	everyNull(&r)
	args := r.Seal(nil)
	formats := make([]int16, len(args))
	for i := range formats {
		formats[i] = 1
	}
	res := pg.ExecPrepared(t.Context(), "every", args, formats, []int16{0}).Read()
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	const want = `{"uuid":"01000000-0000-0000-0000-000000000002","text":"a\"b\\é","bool":true,"int4":-5,"int8":-9223372036854775808,` +
		`"float8":-1.5,"numeric":"-123456789012345678901234567890.000012300","time":"2024-02-29T12:00:00.123456+00:00",` +
		`"timestamp":"0001-01-01T00:00:00.5","date":"2024-02-29","bytea":"\\x00ff","jsonb":{"a": [null, 1.50], "b": 1},"json":{"b":1, "a":[null,1.50]},` +
		`"texts":["a\"b\\c","","NULL"," {},é","null"],"int4s":[1,-2],"int8s":[9223372036854775807],"uuids":["00000000-0000-0000-0000-000000000001"]}`
	const nulls = `{"uuid":null,"text":null,"bool":null,"int4":null,"int8":null,"float8":null,"numeric":null,"time":null,"timestamp":null,` +
		`"date":null,"bytea":null,"jsonb":null,"json":null,"texts":null,"int4s":null,"int8s":null,"uuids":null}`
	for i, want := range []string{want, nulls} {
		if got := string(res.Rows[i][0]); got != want {
			t.Errorf("row %d\n got %s\nwant %s", i, got, want)
		}
	}
}

// pgx passes the types of this package to Postgres and back, as handlers use them.
func TestTypesThroughPgx(t *testing.T) {
	db := idemtest.DB(t)
	id, amount := wire.UUID{7}, wire.MustDecimal("-12345.60")
	day, _ := wire.ParseDate("1969-12-31")
	at, _ := wire.ParseLocalTime("1969-12-31T23:59:59.000001")
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec} {
		var gotID wire.UUID
		var gotAmount wire.Decimal
		var gotDay wire.Date
		var gotAt wire.LocalTime
		var none *wire.Decimal
		err := db.QueryRow(t.Context(), "SELECT $1::uuid, $2::numeric, $3::date, $4::timestamp, NULL::numeric", mode, id, amount, day, at).
			Scan(&gotID, &gotAmount, &gotDay, &gotAt, &none)
		if err != nil {
			t.Fatal(err)
		}
		if gotID != id || gotAmount != amount || gotDay != day || gotAt != at || none != nil {
			t.Errorf("%v: got %v %v %v %v %v", mode, gotID, gotAmount, gotDay, gotAt, none)
		}
	}
	for _, sql := range []string{"SELECT NULL::numeric", "SELECT 'NaN'::numeric", "SELECT 'infinity'::date", "SELECT 'infinity'::timestamp", "SELECT NULL::uuid", "SELECT '10000-01-01'::date"} {
		targets := map[string]any{"numeric": new(wire.Decimal), "date": new(wire.Date), "timestamp": new(wire.LocalTime), "uuid": new(wire.UUID)}
		for name, target := range targets {
			if len(sql) > len(name) && sql[len(sql)-len(name):] == name {
				if err := db.QueryRow(t.Context(), sql).Scan(target); err == nil {
					t.Errorf("%s was scanned", sql)
				}
			}
		}
	}
}
