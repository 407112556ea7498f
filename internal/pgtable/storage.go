package pgtable

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// distributedSQL finds tables of Citus, a table before its partitions. The extension keeps its
// list in pg_catalog, where other roles cannot put one.
const distributedSQL = `
WITH RECURSIVE family AS (
	SELECT name, to_regclass(name)::oid AS oid, 0 AS depth FROM unnest($1::text[]) AS a (name)
	UNION
	SELECT f.name, i.inhrelid, f.depth + 1 FROM family f JOIN pg_inherits i ON i.inhparent = f.oid
)
SELECT DISTINCT ON (f.name) f.name, format('%I.%I', n.nspname, c.relname) FROM family f
JOIN pg_catalog.pg_dist_partition d ON d.logicalrelid::oid = f.oid JOIN pg_class c ON c.oid = f.oid JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY f.name, f.depth, c.relname`

// Distributed returns the tables of these names that Citus has in its list, or whose partitions it
// has, by name, with the one that is listed. The database must have Citus.
func Distributed(ctx context.Context, db Querier, names []string) (map[string]Part, error) {
	found := map[string]Part{}
	rows, _ := db.Query(ctx, distributedSQL, pgx.QueryExecModeExec, names)
	var name, sql string
	_, err := pgx.ForEachRow(rows, []any{&name, &sql}, func() error {
		found[name] = Part{SQL: sql, Kind: Citus}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read which tables Citus distributes: %w", err)
	}
	return found, nil
}

// ofCitus is the difference of a table that Citus lists. docs/scaling.md has what was tried.
func ofCitus(what string, part Part) *Difference {
	return &Difference{
		Text: fmt.Sprintf("%s %s is a table of Citus (pg_dist_partition lists it): its rows may be on other servers, which do not commit atomically with the position, "+
			"so events may be lost, or miss rows of earlier events", what, part.SQL),
		Advice: fmt.Sprintf("SELECT undistribute_table(%s), or use a database without Citus", literal(part.SQL)),
	}
}

// Stored says what follows from where a table, or a partition of it, is stored; nil if nothing
// does.
func Stored(part Part) *Difference {
	switch {
	case part.Kind == "foreign":
		return &Difference{
			Text:   fmt.Sprintf("table %s is a foreign table: its rows are not committed together with the position", part.SQL),
			Advice: "write to a table of this database",
		}
	case part.Kind == "unlogged":
		return &Difference{
			Text:   fmt.Sprintf("table %s is unlogged: after a crash its rows are gone, and their records count as applied", part.SQL),
			Advice: "ALTER TABLE " + part.SQL + " SET LOGGED",
		}
	case part.Kind == "temporary":
		return &Difference{
			Text:   fmt.Sprintf("table %s is temporary: its rows are gone with the connection, and their records count as applied", part.SQL),
			Advice: "write to a permanent table of this database",
		}
	case part.Kind == Citus:
		return ofCitus("table", part)
	}
	return nil
}

func (c *comparison) storage() {
	for _, part := range c.have.Parts {
		if d := Stored(part); d != nil {
			c.found = append(c.found, *d)
		}
	}
}
