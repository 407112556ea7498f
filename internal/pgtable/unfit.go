package pgtable

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// unfitSQL reads the encoding, whether the database has Citus, and the first table of the runtime,
// or partition of one, that is no table or is not permanent. It resolves names as statements do.
const unfitSQL = `
WITH RECURSIVE family AS (
	SELECT name, to_regclass(name)::oid AS oid FROM unnest($1::text[]) AS a (name)
	UNION
	SELECT f.name, i.inhrelid FROM family f JOIN pg_inherits i ON i.inhparent = f.oid
), parts AS (
	SELECT f.name, format('%I.%I', n.nspname, c.relname) AS sql,
		CASE WHEN c.relkind NOT IN ('r', 'p') THEN '' WHEN c.relpersistence = 't' THEN 'temporary' ELSE 'unlogged' END AS kind
	FROM family f JOIN pg_class c ON c.oid = f.oid JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind NOT IN ('r', 'p') OR c.relpersistence <> 'p'
)
SELECT current_setting('server_encoding'), to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL,
	coalesce(p.name, ''), coalesce(p.sql, ''), coalesce(p.kind, '')
FROM (SELECT) AS always LEFT JOIN parts p ON true ORDER BY p.name, p.sql LIMIT 1`

// Unfit reports why no service can run on a database, whatever its spec says: the encoding, or
// what the tables of the runtime are and where they are stored. It is nil if nothing speaks
// against it. It skips tables that do not exist.
func Unfit(ctx context.Context, db Querier) (*Difference, error) {
	rows, _ := db.Query(ctx, unfitSQL, pgx.QueryExecModeExec, Own)
	type answer struct {
		Encoding        string
		Citus           bool
		Name, SQL, Kind string
	}
	is, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[answer])
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the encoding and the storage of the runtime's tables: %w", err)
	case is.Encoding != "UTF8":
		return &Difference{
			Text:   "the database's encoding is " + is.Encoding + ", which would store texts other than those sent",
			Advice: "use a database created with ENCODING 'UTF8' (see CREATE DATABASE, TEMPLATE template0), and move the data over with pg_dump",
		}, nil
	case is.Name != "" && is.Kind == "":
		return &Difference{
			Text:   is.Name + " is not a table",
			Advice: "apply the runtime's migrations to the schema that search_path finds first",
		}, nil
	case is.Name != "":
		return &Difference{
			Text:   fmt.Sprintf("the runtime's table %s is %s", is.SQL, is.Kind),
			Advice: "ALTER TABLE " + is.SQL + " SET LOGGED; the protocol needs it after a crash",
		}, nil
	case !is.Citus:
		return nil, nil
	}
	names := slices.Concat(Own, Beside)
	listed, err := Distributed(ctx, db, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if part, is := listed[name]; is {
			return ofCitus("the runtime's table", part), nil
		}
	}
	return nil, nil
}
