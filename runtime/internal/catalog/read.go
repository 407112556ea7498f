// Package catalog queries a database for everything that the guarantee depends on and that
// generated code cannot know, above all what others have added to the tables that the service
// writes. Read returns facts; verdict.go decides their consequences, which docs/production.md
// lists. What the command doctor also looks for is in pgtable. CheckTables compares the tables
// with the spec. The package changes nothing. It must not import any package of this module but
// ledger, pgtable and wire.
package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/wire"
)

// kind is the kind of a fact.
type kind string

// The kinds of facts. Facts of partitions and children count as the table's.
const (
	citus      kind = "citus"      // the database has the extension Citus
	relation   kind = "relation"   // neither a table nor partitioned; detail: pg_class.relkind
	storage    kind = "storage"    // not permanent, or elsewhere; detail: as pgtable.Part has it, target: the table or partition
	trigger    kind = "trigger"    // detail: its name
	rule       kind = "rule"       // detail: its name
	policy     kind = "policy"     // row level security that this role is subject to
	check      kind = "check"      // a constraint; detail: its name
	notNull    kind = "not null"   // detail: the column
	computed   kind = "computed"   // a generated column, or an index that computes; detail: its name
	restricted kind = "restricted" // a column of a domain or a composite type; detail: the column
	unique     kind = "unique"     // a unique index or an exclusion; detail: its name, columns: its columns, none if it computes
	reference  kind = "reference"  // a foreign key; detail: its name, target: the table, also one that is behind tables of others, action: on delete
	deferred   kind = "deferred"   // a constraint or trigger that is initially deferred; detail: its name, action: "trigger" of one
	loose      kind = "loose"      // a column whose equal values may differ; columns: the column, detail: its collation or type
)

// fact is one row of the result.
type fact struct {
	table   string
	kind    kind
	detail  string
	columns []string
	target  string // of a reference: a table of the query, or ""; of storage: its name in SQL
	action  string // of a reference: pg_constraint's confdeltype and confupdtype
}

// factsSQL resolves tables as the statements do, by the same names and search_path. It is one
// statement, and reads only system catalogs, so every role may run it.
const factsSQL = `
WITH RECURSIVE asked AS (
	SELECT name, to_regclass(sql)::oid AS root FROM unnest($1::text[], $2::text[]) AS a (name, sql)
), family AS (
	SELECT name, root, root AS oid FROM asked WHERE root IS NOT NULL
	UNION
	SELECT f.name, f.root, i.inhrelid FROM family f JOIN pg_inherits i ON i.inhparent = f.oid
), outside AS ( -- tables of others whose rows go or change with rows of ours
	SELECT c.conrelid AS oid, f.name AS origin FROM family f JOIN pg_constraint c ON c.confrelid = f.oid
	WHERE c.contype = 'f' AND (c.confdeltype NOT IN ('a', 'r') OR c.confupdtype NOT IN ('a', 'r')) AND c.conrelid NOT IN (SELECT oid FROM family)
	UNION
	SELECT c.conrelid, o.origin FROM outside o JOIN pg_constraint c ON c.confrelid = o.oid
	WHERE c.contype = 'f' AND (c.confdeltype NOT IN ('a', 'r') OR c.confupdtype NOT IN ('a', 'r')) AND c.conrelid NOT IN (SELECT oid FROM family)
), facts AS (
	SELECT '' AS name, 'citus' AS kind, '' AS detail, NULL::text[] AS columns, '' AS target, '' AS action WHERE to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL
	UNION ALL
	SELECT f.name, 'relation', c.relkind::text, NULL, '', '' FROM family f JOIN pg_class c USING (oid) WHERE c.relkind NOT IN ('r', 'p')
	UNION ALL
	SELECT f.name, 'storage', CASE WHEN c.relkind = 'f' THEN 'foreign' WHEN c.relpersistence = 't' THEN 'temporary' ELSE 'unlogged' END, NULL, format('%I.%I', n.nspname, c.relname), ''
	FROM family f JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'f' OR c.relpersistence <> 'p'
	UNION ALL
	SELECT f.name, 'trigger', t.tgname, NULL, '', '' FROM family f JOIN pg_trigger t ON t.tgrelid = f.oid
	WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
	UNION ALL
	SELECT f.name, 'deferred', t.tgname, NULL, '', 'trigger' FROM family f JOIN pg_trigger t ON t.tgrelid = f.oid
	WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tginitdeferred
	UNION ALL
	SELECT f.name, 'rule', r.rulename, NULL, '', '' FROM family f JOIN pg_rewrite r ON r.ev_class = f.oid WHERE r.ev_type <> '1'
	UNION ALL
	SELECT name, 'policy', '', NULL, '', '' FROM asked WHERE row_security_active(root)
	UNION ALL
	SELECT f.name, 'check', c.conname, NULL, '', '' FROM family f JOIN pg_constraint c ON c.conrelid = f.oid WHERE c.contype = 'c'
	UNION ALL
	SELECT f.name, 'deferred', c.conname, NULL, '', '' FROM family f JOIN pg_constraint c ON c.conrelid = f.oid
	WHERE c.condeferred AND c.contype IN ('p', 'u', 'x', 'f')
	UNION ALL
	SELECT f.name, 'reference', c.conname, (SELECT array_agg(a.attname::text ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY AS k (num, n)
		JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.num),
		coalesce((SELECT min(t.name) FROM family t WHERE t.oid = c.confrelid), (SELECT min(o.origin) FROM outside o WHERE o.oid = c.confrelid), ''), c.confdeltype::text || c.confupdtype::text
	FROM family f JOIN pg_constraint c ON c.conrelid = f.oid WHERE c.contype = 'f'
	UNION ALL
	SELECT f.name, 'unique', i.indexrelid::regclass::text, CASE WHEN i.indexprs IS NULL AND i.indpred IS NULL AND i.indisunique THEN
		(SELECT array_agg(a.attname::text) FROM unnest(i.indkey[0 : i.indnkeyatts - 1]) AS k (num)
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num) END, '', ''
	FROM family f JOIN pg_index i ON i.indrelid = f.oid WHERE i.indisunique OR i.indisexclusion
	UNION ALL
	SELECT f.name, 'computed', i.indexrelid::regclass::text, NULL, '', '' FROM family f JOIN pg_index i ON i.indrelid = f.oid
	WHERE i.indexprs IS NOT NULL OR i.indpred IS NOT NULL
	UNION ALL
	SELECT f.name, v.kind, v.detail, ARRAY[a.attname::text], '', ''
	FROM family f JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum > 0 AND NOT a.attisdropped
	JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
	LEFT JOIN pg_collation l ON l.oid = a.attcollation
	CROSS JOIN LATERAL (VALUES
		('not null', a.attname::text, a.attnotnull),
		('computed', a.attname::text, a.attgenerated <> ''),
		('restricted', a.attname::text, coalesce(e.typtype, t.typtype) IN ('d', 'c')),
		('loose', coalesce('collation ' || l.collname, ''), NOT l.collisdeterministic),
		('loose', 'type ' || format_type(a.atttypid, NULL), CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
			NOT IN ('text'::regtype, 'character varying'::regtype, 'character'::regtype, 'uuid'::regtype, 'boolean'::regtype, 'smallint'::regtype,
				'integer'::regtype, 'bigint'::regtype, 'bytea'::regtype, 'date'::regtype, 'timestamp with time zone'::regtype, 'timestamp without time zone'::regtype))
	) AS v (kind, detail, holds)
	WHERE v.holds
)
SELECT name, kind, detail, coalesce(columns, '{}'), target, action FROM facts ORDER BY name, kind, detail, columns`

// Read queries whether the database is fit for a service at all, and facts about the service's
// tables, by names that the connection's search_path resolves, and decides the consequences. It
// skips a table that does not exist: preparing the statements will report it.
func Read(ctx context.Context, conn *pgx.Conn, tables []wire.Table) (Findings, error) {
	unfit, err := pgtable.Unfit(ctx, conn)
	if err != nil || unfit != nil {
		return Findings{Refused: asRefusal(unfit)}, err
	}
	var names, sql []string
	for _, t := range tables {
		names, sql = append(names, t.Name), append(sql, name(&t))
	}
	// Nothing is prepared, because there may be a pooler.
	rows, _ := conn.Query(ctx, factsSQL, pgx.QueryExecModeExec, array(names), array(sql))
	facts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f fact, err error) {
		err = row.Scan(&f.table, &f.kind, &f.detail, &f.columns, &f.target, &f.action)
		return f, err
	})
	if err != nil {
		return Findings{}, fmt.Errorf("read the catalog: %w", err)
	}
	if slices.ContainsFunc(facts, func(f fact) bool { return f.kind == citus }) {
		listed, err := pgtable.Distributed(ctx, conn, sql)
		if err != nil {
			return Findings{}, err
		}
		for i, name := range names {
			if part, is := listed[sql[i]]; is {
				facts = append(facts, fact{table: name, kind: storage, detail: part.Kind, target: part.SQL})
			}
		}
	}
	return decide(tables, facts), nil
}

// array returns a list of names in the syntax of Postgres.
func array(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n) + `"`)
	}
	return "{" + b.String() + "}"
}
