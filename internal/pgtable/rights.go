package pgtable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// usage is what a role without USAGE on a schema lacks.
func usage(role, schema, table string) Difference {
	return Difference{
		Text:   fmt.Sprintf("role %s has no right to use schema %s, in which table %s is", role, schema, table),
		Advice: fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", quoted(schema), quoted(role)),
	}
}

// Closed is the difference of a table whose name has a schema that the role may not use.
func Closed(ctx context.Context, db Querier, name string) ([]Difference, error) {
	rows, _ := db.Query(ctx, `
SELECT current_user::text, n.nspname::text FROM parse_ident($1) AS i (parts) JOIN pg_namespace n ON n.nspname = i.parts[1]
WHERE cardinality(i.parts) = 2 AND NOT has_schema_privilege(n.oid, 'USAGE')`, pgx.QueryExecModeExec, name)
	var found []Difference
	var role, schema string
	if _, err := pgx.ForEachRow(rows, []any{&role, &schema}, func() error {
		found = append(found, usage(role, schema, name))
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read whether this role may use the schema of %s: %w", name, err)
	}
	return found, nil
}

// Lacks is which of some rights to a table this role lacks; nil if it has all, or there is no such
// table.
func Lacks(ctx context.Context, db Querier, name string, rights []string) (*Difference, error) {
	have, err := Read(ctx, db, name)
	if err != nil || have == nil {
		return nil, err
	}
	c := comparison{want: &Want{SQL: name, Rights: rights}, have: have}
	c.lacksRights()
	return Join(c.found), nil
}

// lacksRights compares what this role may do to the table with what steps do to it.
func (c *comparison) lacksRights() bool {
	lacks := slices.DeleteFunc(slices.Clone(c.want.Rights), func(r string) bool { return slices.Contains(c.have.Rights, r) })
	if len(lacks) == 0 {
		return false
	}
	list, role := strings.Join(lacks, ", "), c.have.Role
	advice := fmt.Sprintf("GRANT %s ON %s TO %s", list, c.want.SQL, quoted(role))
	c.add(Difference{Advice: advice}, "role %s may not %s %s", role, list, c.want.SQL)
	return true
}
