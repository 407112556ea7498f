package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/pgtable"
	"github.com/idemgen/idemgen/runtime/wire"
)

// CheckPlanted looks for functions and operators that were planted to be called by the statements
// of this session. The error is a [RefusedError] if there are any.
func CheckPlanted(ctx context.Context, conn *pgx.Conn) error {
	planted, err := pgtable.Planted(ctx, conn)
	if err == nil && planted != nil {
		return asRefusal(planted)
	}
	return err
}

// CheckRuntime compares the runtime's tables with what a service needs. The error is a
// [RefusedError] if an operator must apply a migration, or grant a right.
func CheckRuntime(ctx context.Context, conn *pgx.Conn, schema map[string]int) error {
	parts := slices.Collect(maps.Keys(schema))
	incomplete, err := pgtable.Incomplete(ctx, conn, parts)
	if err != nil {
		return err
	}
	if incomplete != nil {
		return asRefusal(incomplete)
	}
	have, why, err := pgtable.Versions(ctx, conn)
	if err != nil {
		return err
	}
	if why == nil {
		why = pgtable.Outdated(have, schema)
	}
	if why != nil {
		return asRefusal(why)
	}
	lacks, err := pgtable.Needs(ctx, conn, "", parts)
	if err != nil {
		return err
	}
	if why = pgtable.Join(lacks); why != nil {
		why.Advice += `; "Roles and rights" in idemgen's docs/operations.md lists all that a service needs`
		return asRefusal(why)
	}
	return nil
}

// CheckTables compares the tables of a service with its spec. The error is a [RefusedError] that
// names all differences.
func CheckTables(ctx context.Context, conn *pgx.Conn, service *wire.Service) error {
	var wrong, statements []string
	for i := range service.Topics {
		statements = append(statements, service.Topics[i].Statements()...)
	}
	for i := range service.Tables {
		found, err := pgtable.Compare(ctx, conn, want(&service.Tables[i], statements))
		if err != nil {
			return err
		}
		for _, d := range found {
			wrong = append(wrong, fmt.Sprintf("%s (%s)", d.Text, d.Advice))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &RefusedError{
		fmt.Sprintf("the database does not match %s: %s", service.Source, strings.Join(wrong, "; ")),
		"are all migrations applied?",
	}
}

// want returns the parameters of the comparison of a table. statements are those of the topics.
func want(t *wire.Table, statements []string) *pgtable.Want {
	w := &pgtable.Want{SQL: name(t), Unique: t.Unique, Rights: t.Rights}
	w.Upserts = slices.ContainsFunc(statements, func(sql string) bool {
		_, insert, found := strings.Cut(sql, "INSERT INTO "+cmp.Or(t.SQL, t.Name)+" ")
		return found && strings.Contains(insert, "ON CONFLICT")
	})
	for _, c := range t.Columns {
		w.Columns = append(w.Columns, pgtable.WantColumn(c))
	}
	return w
}

// name returns the name of a table in statements.
func name(t *wire.Table) string { return cmp.Or(t.SQL, pgx.Identifier{t.Name}.Sanitize()) }
