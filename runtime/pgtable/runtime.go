package pgtable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Own are the tables of the runtime that must survive a crash as one.
var Own = []string{"idem_stream", "idem_ledger", "idem_dead_letter", "idem_key_gen", "idem_keys", "idem_operator", "idem_lease"}

// ofRuntime reports whether the runtime has a table of this name. Those of keys have a number.
func ofRuntime(name string) bool {
	return slices.Contains(Own, name) || slices.Contains([]string{"idem_schema", "idem_assert", "idem_step_refused"}, name) || strings.HasPrefix(name, "idem_keys_")
}

// Version is the version of the runtime's tables that a role finds by its search_path, 0 if there
// are none. Where it may not even look for them, that is the difference.
func Version(ctx context.Context, db Querier) (version int, why *Difference, err error) {
	const name = "idem_schema"
	have, err := Read(ctx, db, name)
	if err != nil {
		return 0, nil, err
	}
	if have == nil {
		places, err := elsewhere(ctx, db, name)
		for _, p := range places {
			if p.inPath && !p.usable {
				d := usage(p.role, p.schema, name)
				return 0, &d, err
			}
		}
		return 0, nil, err
	}
	if c := (comparison{want: &Want{SQL: name, Rights: []string{"SELECT"}}, have: have}); c.lacksRights() {
		c.found[0].Advice += `; "Roles and rights" in idemgen's docs/operations.md lists all that a service needs`
		return 0, &c.found[0], nil
	}
	rows, err := db.Query(ctx, `SELECT coalesce(max(version), 0) FROM idem_schema`, pgx.QueryExecModeExec)
	if err != nil {
		return 0, nil, fmt.Errorf("read the version of the runtime's tables: %w", err)
	}
	if version, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int]); err != nil {
		return 0, nil, fmt.Errorf("read the version of the runtime's tables: %w", err)
	}
	return version, nil, nil
}

// Outdated is the difference of a database whose tables of the runtime have a version below the
// one that a service needs; nil if they have not.
func Outdated(have, want int) *Difference {
	if have >= want {
		return nil
	}
	d := &Difference{
		Text:   fmt.Sprintf("the database has version %d of the runtime's tables, this service needs %d", have, want),
		Advice: fmt.Sprintf("apply, in their order, all migrations up to the one whose name ends with _idem_%d.sql", want),
	}
	if have == 0 {
		d.Advice += "; the first of them ends with _idem_1.sql"
	}
	return d
}
