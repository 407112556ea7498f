package pgtable

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Querier is a connection or a pool.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// tableSQL reads one table as JSON. Names are resolved as statements resolve them.
const tableSQL = `
SELECT json_build_object('schema', n.nspname, 'name', c.relname, 'unlogged', c.relpersistence <> 'p', 'view', c.relkind IN ('v', 'm'),
	'partitioned', c.relkind = 'p' AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),
	'instead', coalesce((SELECT json_agg(t.tgname ORDER BY t.tgname) FROM pg_trigger t
		WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 64 <> 0 AND t.tgtype & 4 <> 0), '[]'),
	'rights', coalesce((SELECT json_agg(r) FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r
		WHERE CASE r WHEN 'DELETE' THEN has_table_privilege(c.oid, r) ELSE has_any_column_privilege(c.oid, r) END), '[]'),
	'before', coalesce((SELECT json_agg(json_build_object('name', t.tgname, 'insert', t.tgtype & 4 <> 0, 'update', t.tgtype & 16 <> 0) ORDER BY t.tgname)
		FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0), '[]'),
	'rules', coalesce((SELECT json_agg(json_build_object('name', r.rulename, 'on', CASE r.ev_type WHEN '2' THEN 'UPDATE' WHEN '3' THEN 'INSERT' ELSE 'DELETE' END) ORDER BY r.rulename)
		FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.is_instead AND r.ev_type <> '1' AND r.ev_enabled IN ('O', 'A')), '[]'),
	'columns', coalesce((SELECT json_agg(json_build_object('name', a.attname, 'nullable', NOT a.attnotnull AND NOT y.never_null,
			'domain', CASE WHEN y.oid <> a.atttypid THEN format_type(a.atttypid, NULL) ELSE '' END,
			'default', CASE WHEN a.attidentity = 'd' THEN '` + ByDefault + `' WHEN a.attgenerated = '' THEN coalesce(pg_get_expr(d.adbin, d.adrelid), '') ELSE '' END,
			'always', CASE WHEN a.attidentity = 'a' THEN 'identity' WHEN a.attgenerated <> '' THEN 'generated' ELSE '' END,
			'labels', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = y.oid),
			'base', json_build_object('text', format_type(y.oid, y.typmod), 'schema', y.schema, 'name', y.typname)) ORDER BY a.attnum)
		FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		CROSS JOIN LATERAL (
			WITH RECURSIVE under (oid, typmod, depth, never_null) AS (
				SELECT a.atttypid, a.atttypmod, 0, false
				UNION ALL
				SELECT t.typbasetype, t.typtypmod, u.depth + 1, u.never_null OR t.typnotnull FROM under u JOIN pg_type t ON t.oid = u.oid WHERE t.typtype = 'd'
			)
			SELECT u.oid, u.typmod, u.never_null, t.typname, s.nspname AS schema FROM under u JOIN pg_type t ON t.oid = u.oid
			JOIN pg_namespace s ON s.oid = t.typnamespace ORDER BY u.depth DESC LIMIT 1
		) AS y
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
	'keys', coalesce((SELECT json_agg(json_build_object('primary', i.indisprimary, 'deferrable', NOT i.indimmediate, 'columns',
			(SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(i.indkey[0 : i.indnkeyatts - 1]) WITH ORDINALITY AS k (num, n)
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num)) ORDER BY i.indisprimary DESC, i.indexrelid)
		FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indexprs IS NULL AND i.indpred IS NULL), '[]'),
	'indexes', coalesce((SELECT json_agg(json_build_object('columns',
			(SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(i.indkey[0 : i.indnkeyatts - 1]) WITH ORDINALITY AS k (num, n)
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.num)) ORDER BY i.indexrelid)
		FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid AND i.indexprs IS NULL AND i.indpred IS NULL), '[]'),
	'parts', coalesce((
		WITH RECURSIVE family (oid) AS (SELECT c.oid UNION SELECT i.inhrelid FROM family f JOIN pg_inherits i ON i.inhparent = f.oid)
		SELECT json_agg(json_build_object('sql', format('%I.%I', pn.nspname, p.relname),
			'kind', CASE WHEN p.relkind = 'f' THEN 'foreign' WHEN p.relpersistence = 't' THEN 'temporary' ELSE 'unlogged' END) ORDER BY p.oid = c.oid DESC, pn.nspname, p.relname)
		FROM family f JOIN pg_class p ON p.oid = f.oid JOIN pg_namespace pn ON pn.oid = p.relnamespace
		WHERE p.relkind = 'f' OR p.relpersistence <> 'p'), '[]'),
	'role', current_user, 'citus', to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL,
	'others', coalesce((SELECT json_agg(pg_get_indexdef(i.indexrelid) ORDER BY i.indexrelid)
		FROM pg_index i WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)), '[]'),
	'foreign_keys', coalesce((SELECT json_agg(json_build_object('schema', rn.nspname, 'table', r.relname,
			'on_delete', CASE f.confdeltype WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set_null' WHEN 'd' THEN 'set default' ELSE 'restrict' END,
			'columns', (SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(f.conkey) WITH ORDINALITY AS k (num, n)
				JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.num),
			'references', (SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(f.confkey) WITH ORDINALITY AS k (num, n)
				JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.num)) ORDER BY f.conname)
		FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
		WHERE f.conrelid = c.oid AND f.contype = 'f'), '[]'))::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'f', 'v', 'm')`

// Read reads the table that SQL calls by this name, quoted where it needs to be; nil if there is
// none. Nothing is prepared: a pooler may be between.
func Read(ctx context.Context, db Querier, name string) (*Table, error) {
	rows, _ := db.Query(ctx, tableSQL, pgx.QueryExecModeExec, name)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read the definition of table %s: %w", name, err)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	t := &Table{}
	if err := json.Unmarshal([]byte(texts[0]), t); err != nil {
		return nil, fmt.Errorf("read the definition of table %s: %w", name, err)
	}
	for i := range t.Columns {
		t.Columns[i].name()
	}
	if t.Citus {
		found, err := Distributed(ctx, db, []string{name})
		if err != nil {
			return nil, err
		}
		for _, part := range found {
			t.Parts = append(t.Parts, part)
		}
	}
	return t, nil
}

// A partition is part of its table; the runtime's tables are in one schema.
const listSQL = `
SELECT n.nspname::text, c.relname::text, EXISTS (SELECT FROM pg_class r WHERE r.relname = 'idem_schema' AND r.relnamespace = n.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
	AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"`

// List names the tables of a database as SQL does, without those of Postgres, of extensions and of
// the runtime.
func List(ctx context.Context, db Querier) ([]string, error) {
	rows, _ := db.Query(ctx, listSQL, pgx.QueryExecModeExec)
	var names []string
	var schema, name string
	var beside bool // tables of the runtime
	_, err := pgx.ForEachRow(rows, []any{&schema, &name, &beside}, func() error {
		if !beside || !ofRuntime(name) {
			names = append(names, pgx.Identifier{schema, name}.Sanitize())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	return names, nil
}
