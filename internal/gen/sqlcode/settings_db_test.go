package sqlcode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/gen/sqlcode"
	"github.com/idemgen/idemgen/runtime/idemtest"
)

// A migration says the same in a database whose defaults are the opposite of what is usual,
// whichever tool applies it, statement by statement or as one message: backslashes are no
// escapes, a text keeps its umlauts, a date its order. And so does a statement.
func TestLiteralsDependOnNoSetting(t *testing.T) {
	s := load(t, `
version: 1
package: literals
consumer: literals
tables:
  sizes:
    description: 'Größe in C:\temp'
    primary_key: [id]
    columns: {id: integer, path: {type: text, default: 'C:\temp'}, umlaut: {type: text, default: 'Müller'}, raw: {type: bytea, default: XA==},
      day: {type: date, default: '2026-03-04'}, doc: {type: jsonb, default: '{"a": "b\nc"}'}, empty: {type: text array, default: '{}'}, fixed: text}
topics:
  a.v1:
    idempotency_key: {source: {record: offset}}
    events:
      Sized:
        fields: {id: int32}
        write:
          - insert: sizes
            set: {fixed: {value: 'D:\new\\'}}
            leave: [path, umlaut, raw, day, doc, empty]
`)
	tables, err := sqlcode.CreateTables(s.Tables)
	if err != nil {
		t.Fatal(err)
	}
	migration := sqlcode.FormatOf("sql").Files(1, "x", sqlcode.Migration{About: []string{"größen"}, Parts: []string{tables}})[0].Text
	runtime := strings.Join(runtimeTables(), "\n")
	for name, set := range map[string][]string{
		"statement by statement": {"client_encoding = 'LATIN1'", "standard_conforming_strings = off", "DateStyle = 'SQL, DMY'", "backslash_quote = off", "bytea_output = escape", "array_nulls = off"},
		"one message":            {"standard_conforming_strings = off", "DateStyle = 'SQL, DMY'", "backslash_quote = off", "bytea_output = escape", "array_nulls = off"},
	} {
		t.Run(name, func(t *testing.T) {
			db := idemtest.DB(t)
			for _, sql := range set {
				idemtest.Exec(t, db, fmt.Sprintf("ALTER DATABASE %s SET %s", pgx.Identifier{db.Config().ConnConfig.Database}.Sanitize(), sql))
			}
			db.Reset() // the connection that changed them does not have them
			conn, err := db.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			exec := func(sql string) {
				t.Helper()
				if _, err := conn.Conn().PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
					t.Fatalf("%v in:\n%s", err, sql)
				}
			}
			for _, sql := range []string{runtime, migration} {
				_, rest, ok := strings.Cut(sql, "SET LOCAL client_encoding = 'UTF8';")
				if !ok {
					t.Fatalf("nothing sets client_encoding in:\n%s", sql)
				}
				if name == "one message" {
					exec(sql)
					continue
				}
				exec("BEGIN")
				exec("SET LOCAL client_encoding = 'UTF8'")
				exec(rest)
				exec("COMMIT")
			}
			exec("SET client_encoding = 'UTF8'")
			sql := statement(t, s.Topics[0].Events[0].Steps[0])
			if _, err := conn.Exec(t.Context(), sql, []int32{1}); err != nil {
				t.Fatalf("%v in:\n%s", err, sql)
			}
			var got string
			if err := conn.QueryRow(t.Context(), `SELECT concat_ws('|', path, umlaut, length(umlaut), octet_length(raw), get_byte(raw, 0), extract(month FROM day), doc->>'a', fixed,
	obj_description('sizes'::regclass)) FROM sizes`).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if want := `C:\temp|Müller|6|1|92|3|b` + "\n" + `c|D:\new\\|Größe in C:\temp`; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
