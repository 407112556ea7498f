package footprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/footprint"
)

// plain are statements as services write them, and as sqlc and libraries do.
var plain = []string{
	`UPDATE account SET balance = balance + $1 WHERE id = $2`,
	`UPDATE "account" SET "balance" = coalesce("balance", 0) + $1, seen = now() WHERE id = $2;`,
	"UPDATE account SET\r\n\tbalance = $1\f\r\n\tWHERE id = $2\r\n",
	"-- name: AddBalance :exec\nUPDATE account SET balance = balance + @amount WHERE id = @id",
	`insert into audit (id, what, at) values ($1, 'it''s; a (text) set_config(', now()) on conflict (id) do nothing`,
	`INSERT INTO s.audit AS a (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET n = a.n + 1 RETURNING a.n`,
	`INSERT INTO audit (id) SELECT x FROM unnest($1::int[]) AS u(x) ON CONFLICT DO NOTHING`,
	`WITH moved AS (DELETE FROM a WHERE id IN (1, 2) RETURNING *) INSERT INTO b SELECT * FROM moved`,
	`WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT sum(n) FROM t`,
	`SELECT count(*) FILTER (WHERE a > 1) OVER (PARTITION BY (b)), pg_catalog.lower(c) FROM x JOIN (SELECT 1 AS i) y ON (y.i = x.i)`,
	`SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
	`SELECT a::numeric(10,2), CAST(b AS varchar(3)), $1::timestamptz /* set /* nested */ x */ FROM t`,
	`DELETE FROM a USING b WHERE a.id = b.id AND NOT EXISTS (SELECT FROM c) AND EXTRACT(year FROM a.at) > 2000`,
	`MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN UPDATE SET n = b.n WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.n)`,
	`SELECT pg_notify('orders', $1), pg_advisory_xact_lock(7)`,
	`SELECT a::size(3), b::app.size(3) FROM t`,
	`SELECT azAZ09, "q".zoo_Z, Ähz, TIMEZONE('UTC', at) FROM Zaz AS zz`,
	`VALUES (1), (2)`,
	`SELECT a FROM (VALUES (1)) AS v (a) WHERE a IN (VALUES (2))`,
	`SELECT jsonb_build_object('a', $1::text) || '{"b": 1}'::jsonb`,
	`WITH m AS MATERIALIZED (DELETE FROM a RETURNING id) SELECT count(*) FROM m`,
	`WITH m AS NOT MATERIALIZED (VALUES (1)) SELECT count(*) FROM m`,
	`SELECT a FROM b WHERE c = 'pg_settings' OR c = ';' ORDER BY a`,
	`SELECT a, b[length('x')] FROM t`,
}

func TestPlainStatementsHaveNoFootprint(t *testing.T) {
	for _, sql := range plain {
		if !footprint.None(sql) {
			t.Errorf("has a footprint: %s", sql)
		}
	}
}

func TestWhatMayLeaveSomethingHasAFootprint(t *testing.T) {
	for _, sql := range []string{
		``, `values`, `delete`, `select `, `-- only a comment`, `;`,
		`SET search_path = x`, `RESET ALL`, `COMMIT`, `ROLLBACK`, `BEGIN`, `PREPARE TRANSACTION 'x'`, `SAVEPOINT a`, `LISTEN x`,
		`CREATE TEMP TABLE t (a int)`, `DO $$ BEGIN END $$`, `CALL p()`, `EXPLAIN ANALYZE SELECT f()`, `LOCK TABLE a`, `DECLARE c CURSOR FOR SELECT 1`,
		`UPDATE a SET b = 1; COMMIT; BEGIN`, `SELECT 1; SET ROLE x`, `SELECT 1;;`,
		`SELECT set_config('search_path', 'x', false)`, `SELECT pg_catalog.set_config('a', 'b', true)`, `SELECT "set_config"('a', 'b', true)`,
		`SELECT SET_CONFIG ('a', 'b', true)`, `SELECT set_config/* */('a', 'b', true)`, "SELECT set_config -- x\n('a', 'b', true)",
		`SELECT my.lower('x')`, `SELECT x.pg_catalog.lower('x')`, `SELECT my."lower"('x')`, `SELECT f(1)`, `SELECT 1, f(1)`, `SELECT (f(1))`, `SELECT public.exists(1)`,
		`UPDATE a SET b = f(b)`, `INSERT INTO a (b) VALUES (f(1))`, `INSERT INTO a SELECT f(1)`, `DELETE FROM a WHERE f(b)`,
		`SELECT * FROM f(1)`, `SELECT * FROM a, LATERAL f(a.b) AS x(y)`, `SELECT 1 FROM a JOIN b ON conflict(1)`, `SELECT over(1)`, `SELECT set(1)`,
		`SELECT DISTINCT ON (a) over(1) FROM b`, `SELECT pg_advisory_lock(1)`,
		`SELECT 1 INTO TEMP t`, `SELECT INTO TEMP t FROM a`, `SELECT 1 AS insert INTO TEMP t`, `SELECT (1) insert INTO TEMP t FROM a`,
		`WITH a AS (SELECT 1) SELECT (1) insert INTO TEMP t FROM a`, `WITH a AS (SELECT 1) (SELECT (1) insert INTO TEMP t FROM a)`,
		`SELECT U&"set!005fconfig" UESCAPE '!' ('a', 'b', true)`, `SELECT E'\' || set_config(''a'', ''b'', true) --'`, `SELECT $$a$$`, `SELECT $a$ x $a$`,
		`SELECT 'open`, `SELECT "open`, `SELECT 1 /* open`, `SELECT 1 /* /* */`, "SELECT 1\x00",
		`SELECT nextval('s') FROM dblink('x', 'y')`,
		`UPDATE pg_settings SET setting = 'x' WHERE name = 'search_path'`, `UPDATE pg_catalog."pg_settings" SET setting = 'x'`,
		`SELECT set_config('search_path', values, false) FROM a`, `SELECT pg_advisory_lock(values) FROM a`, `SELECT f(values, 1) FROM a`,
		`SELECT NOT materialized(1)`, `SELECT 1 AND NOT materialized(a.id) FROM a`,
		`MERGE INTO a USING b ON conflict(a.id) WHEN MATCHED THEN DO NOTHING`,
		`SELECT 1INTO TEMP t`, `SELECT 1.5into TEMP t`, `SELECT $1into TEMP t`, `SELECT date$1into TEMP t`, `SELECT f@lower('x')`,
		`SELECT (ARRAY[1])[":":set_config('a', '1', false)::int] FROM a`, `SELECT mİn(1) FROM a`,
		// The same, behind more tokens than the name of a prepared statement may have.
		`SELECT a, b, c, 1INTO TEMP t`, `SELECT a, b, c, $1into TEMP t`, `SELECT a, b, c, date$1into TEMP t`, `SELECT a, b, c, f@lower('x')`, `SELECT a, b, c, $a$ x`, `SELECT a, b, c, $ 1`,
		`SELECT a, b, c, 'open`, `SELECT a, b, c /* open`, "SELECT a, b, c\x00", `SELECT a, b, c \ d`, `SELECT a, b, c, '\' || set_config(''a'', ''b'', true) --'`, `SELECT a, b, f0(1)`,
		`with-tenant`, `select-tenant`, `update.tenant`, `select tenant`, `select;`, `select it now`, `select it now;`,
	} {
		if footprint.None(sql) {
			t.Errorf("has no footprint: %s", sql)
		}
	}
}

// A call of a function that nobody knows is found wherever it stands in a statement.
func FuzzUnknownCallIsFound(f *testing.F) {
	for i := range plain {
		f.Add(i, 40)
	}
	f.Fuzz(func(t *testing.T, i, at int) {
		sql := plain[max(i, -i)%len(plain)]
		words := strings.Fields(sql)
		at = max(at, -at) % (len(words) + 1)
		if at < 0 || inText(words[:at]) || at > 0 && definer(words[at-1]) {
			return
		}
		with := strings.Join(append(append(append([]string{}, words[:at]...), "set_config('a', 'b', true)"), words[at:]...), " ")
		if footprint.None(with) {
			t.Errorf("has no footprint: %s", with)
		}
	})
}

// definer reports whether a name after the word is declared, and not called.
func definer(word string) bool {
	switch w := strings.ToLower(word); w {
	case "into", "as", "with", "recursive":
		return true
	}
	return false
}

// inText reports whether a string, a name in quotes or a comment is open.
func inText(words []string) bool {
	s := strings.Join(words, " ")
	return strings.Count(s, "'")%2 == 1 || strings.Count(s, `"`)%2 == 1 || strings.Count(s, "/*") > strings.Count(s, "*/") || strings.Contains(s, "--")
}

func TestMemoSaysWhatItsFunctionSays(t *testing.T) {
	var m footprint.Memo
	for i := range 2000 {
		for _, sql := range []string{fmt.Sprintf("SELECT %d", i), fmt.Sprintf("SET a.b = %d", i), "SELECT 1", "RESET ALL"} {
			if m.Of(sql) != footprint.Of(sql) {
				t.Fatalf("the memo is wrong about %s", sql)
			}
		}
	}
}

// A statement that ends a transaction is found whatever is before it, and no other is taken for
// one.
func TestStatementsThatEndTheTransaction(t *testing.T) {
	for _, sql := range []string{
		`COMMIT`, ` commit;`, `End`, `ABORT`, `ROLLBACK`, `rollback work`, `ROLLBACK TRANSACTION AND CHAIN`, `BEGIN`, `START TRANSACTION READ ONLY`,
		`PREPARE TRANSACTION 'x'`, `COMMIT AND CHAIN`, "/* a /* b */ */ -- c\rCOMMIT", "\v\f;; ; COMMIT", `COMMIT PREPARED 'x'`, `rollback/**/`,
	} {
		if footprint.Of(sql)&footprint.Ends == 0 {
			t.Errorf("does not end a transaction: %s", sql)
		}
	}
	for _, sql := range append([]string{
		`ROLLBACK TO s`, `ROLLBACK WORK TO SAVEPOINT s`, `SAVEPOINT s`, `RELEASE s`, `DO $$ BEGIN NULL; END $$`, `CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END`,
		`SET CONSTRAINTS a IMMEDIATE`, `SELECT 'x; COMMIT'`, `SELECT 1 /* ; COMMIT */`, `PREPARE transactions AS SELECT 1`, `SELECT f() AS commit`, `commit_it`, `"commit"`,
	}, plain...) {
		if footprint.Of(sql)&footprint.Ends != 0 {
			t.Errorf("ends a transaction: %s", sql)
		}
	}
}

// COPY has a protocol of its own, and a comment in front of it changes nothing.
func TestCopyIsTold(t *testing.T) {
	for sql, want := range map[string]footprint.Footprint{
		`COPY a FROM STDIN`: footprint.Leaves | footprint.Copies, `/* x */ ; copy (SELECT 1) TO STDOUT`: footprint.Leaves | footprint.Copies, `copy_it`: footprint.Leaves, `SELECT a AS copy FROM b`: 0,
	} {
		if got := footprint.Of(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

func TestTextsThatNest(t *testing.T) {
	for sql, want := range map[string]bool{
		`SAVEPOINT s`: true, `Release s`: true, `ROLLBACK TO s`: true, `;rollback work to savepoint s`: true, `SET search_path = x`: false, `SELECT f(1)`: false,
	} {
		if got := footprint.Of(sql)&footprint.Nests != 0; got != want {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

func BenchmarkMemo(b *testing.B) {
	var m footprint.Memo
	for b.Loop() {
		m.Of(plain[0])
	}
}
