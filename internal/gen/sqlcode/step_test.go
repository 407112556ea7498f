package sqlcode_test

import "testing"

// TestStepText: the look of a statement, one thing per line.
func TestStepText(t *testing.T) {
	cases := []struct {
		name string
		step stepCase
		want string
	}{
		{
			"upsert collapsed with if_newer",
			stepCase{
				table:  "primary_key: [id], columns: {id: integer, n: nullable bigint, at: nullable timestamptz, note: nullable text, s: varchar(9)}",
				fields: "n: int32", write: "upsert: t1, set: {at: {now: true}, s: {value: x}}, clear: [note], if_newer: n",
			},
			`INSERT INTO t1 AS t (
    id,
    n,
    at,
    note,
    s
)
SELECT DISTINCT ON (id)
    unnest($1::integer[]) AS id,
    unnest($2::integer[])::bigint AS n,
    now() AS at,
    NULL::text AS note,
    'x' AS s
ORDER BY id, n DESC, generate_subscripts($1::integer[], 1)
ON CONFLICT (id) DO UPDATE SET
    n = excluded.n,
    at = excluded.at,
    note = excluded.note,
    s = excluded.s
WHERE t.n IS NULL OR t.n < excluded.n`,
		},
		{
			"update that must find its row",
			stepCase{
				table:  "primary_key: [id], columns: {id: integer, v: text, s: text, at: timestamptz}",
				fields: "v: string", write: "update: t1, set: {v: v, s: {value: done}, at: {now: true}}",
			},
			`WITH e AS (
    SELECT
        *,
        row_number() OVER () AS n
    FROM (
        SELECT
            unnest($1::integer[]) AS id,
            unnest($2::text[]) AS v
    ) AS e
),
u AS (
    UPDATE t1 AS t SET
        v = e.v,
        s = 'done',
        at = now()
    FROM e
    WHERE t.id = e.id
    RETURNING e.n
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    't1'
FROM e
WHERE NOT EXISTS (SELECT FROM u WHERE u.n = e.n)`,
		},
		{
			"update guarded by if_newer",
			stepCase{
				table:  "primary_key: [id], columns: {id: integer, n: nullable integer}",
				fields: "n: int32", write: "update: t1, set: {n: n}, if_newer: n",
			},
			`WITH e AS (
    SELECT
        unnest($1::integer[]) AS id,
        unnest($2::integer[]) AS n
),
u AS (
    UPDATE t1 AS t SET
        n = e.n
    FROM e
    WHERE t.id = e.id
        AND (t.n IS NULL OR t.n < e.n)
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'no row with this key',
    't1'
FROM e
WHERE NOT EXISTS (SELECT FROM t1 AS t WHERE t.id = e.id)`,
		},
		{
			"add to rows that other partitions change",
			stepCase{table: "primary_key: [id], columns: {id: integer, n: bigint}", fields: "n: int64", write: "add: t1, plus: {n: n}, if_missing: skip", assume: "unique"},
			`WITH e AS (
    SELECT
        id,
        sum(n) AS n
    FROM unnest($1::integer[], $2::bigint[]) AS e (id, n)
    GROUP BY id
),
l AS (
    SELECT t.id
    FROM t1 AS t, e
    WHERE t.id = e.id
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE t1 AS t SET
    n = t.n + e.n
FROM e, l
WHERE t.id = e.id
    AND t.id = l.id`,
		},
		{
			"delete",
			stepCase{table: "primary_key: [id], columns: {id: integer}", write: "delete: t1"},
			`WITH e AS (
    SELECT
        unnest($1::integer[]) AS id
),
d AS (
    DELETE FROM t1 AS t
    USING e
    WHERE t.id = e.id
    RETURNING true
)
INSERT INTO idem_step_refused (reason, in_table)
SELECT
    'the database did not delete the row',
    't1'
WHERE CASE WHEN (SELECT count(*) FROM d) < cardinality($1) THEN idem_left('SELECT FROM t1 AS t, (SELECT unnest(($1)[1]::integer[]) AS id) AS e WHERE t.id = e.id', $1::integer[]::text) END`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := statement(t, load(t, c.step.spec()).Topics[0].Events[0].Steps[0])
			if got != c.want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
