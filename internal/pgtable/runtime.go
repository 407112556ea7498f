package pgtable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Own are the tables of the runtime that must survive a crash as one.
var Own = []string{"idem_stream", "idem_ledger", "idem_dead_letter", "idem_key_gen", "idem_keys", "idem_operator", "idem_lease"}

// Beside are the other tables of the runtime and of an outbox.
var Beside = []string{"idem_schema", "idem_assert", "idem_step_refused", "idem_process", "idem_outbox"}

// ofRuntime reports whether the runtime has a table of this name. Those of keys have a number.
func ofRuntime(name string) bool {
	return slices.Contains(Own, name) || name != "idem_outbox" && slices.Contains(Beside, name) || strings.HasPrefix(name, "idem_keys_")
}

// Versions are those of the runtime's tables, by part, that a role finds by its search_path; none
// if there are no tables. Where it may not even look for them, that is the difference.
func Versions(ctx context.Context, db Querier) (have map[string]int, why *Difference, err error) {
	const name = "idem_schema"
	table, err := Read(ctx, db, name)
	if err != nil {
		return nil, nil, err
	}
	if table == nil {
		places, err := elsewhere(ctx, db, name)
		for _, p := range places {
			if p.inPath && !p.usable {
				d := usage(p.role, p.schema, name)
				return nil, &d, err
			}
		}
		return nil, nil, err
	}
	if c := (comparison{want: &Want{SQL: name, Rights: []string{"SELECT"}}, have: table}); c.lacksRights() {
		c.found[0].Advice += `; "Roles and rights" in idemgen's docs/operations.md lists all that a service needs`
		return nil, &c.found[0], nil
	}
	rows, _ := db.Query(ctx, `SELECT part, max(version) FROM idem_schema GROUP BY part`, pgx.QueryExecModeExec)
	var part string
	var version int
	have = map[string]int{}
	if _, err = pgx.ForEachRow(rows, []any{&part, &version}, func() error { have[part] = version; return nil }); err != nil {
		return nil, nil, fmt.Errorf("read the versions of the runtime's tables: %w", err)
	}
	return have, nil, nil
}

// Outdated is the difference of a database that lacks parts of the runtime's tables, or has older
// ones than a service needs; nil if it has all.
func Outdated(have, want map[string]int) *Difference {
	var files []string
	for _, part := range slices.Sorted(maps.Keys(want)) {
		if have[part] < want[part] {
			files = append(files, fmt.Sprintf("_idem_%s_%d.sql", part, want[part]))
		}
	}
	if files == nil {
		return nil
	}
	return &Difference{
		Text:   "the database lacks tables of the runtime that this service needs, or has older ones",
		Advice: "apply, in their order, all migrations up to those whose names end with " + strings.Join(files, ", "),
	}
}
