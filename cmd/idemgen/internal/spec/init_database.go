package spec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// fromDatabase says which tables a first spec describes.
type fromDatabase struct {
	address
	tables []string // as SQL names them; none: all
}

// read reads what the tables are like.
func (f *fromDatabase) read(ctx context.Context, stderr io.Writer) ([]*pgtable.Table, error) {
	db, err := command.Connect(ctx, stderr, "--from-db", f.url)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	names := f.tables
	if len(names) == 0 {
		if names, err = pgtable.List(ctx, db); err != nil {
			return nil, err
		}
	}
	var all []*pgtable.Table
	var errs []error
	for _, name := range names {
		t, err := readTable(ctx, db, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, t)
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("the database has no tables"))
	}
	return all, errors.Join(errs...)
}

// readTable reads a table that must be there.
func readTable(ctx context.Context, db pgtable.Querier, name string) (*pgtable.Table, error) {
	closed, err := pgtable.Closed(ctx, db, name)
	if err == nil && closed != nil {
		err = fmt.Errorf("%s: %s", closed[0].Text, closed[0].Advice)
	}
	var t *pgtable.Table
	if err == nil {
		t, err = pgtable.Read(ctx, db, name)
	}
	if t != nil || closed != nil {
		return t, err
	}
	all, listed := pgtable.List(ctx, db)
	if listed != nil {
		return nil, errors.Join(err, listed)
	}
	meant := func(other string) bool {
		plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, `"`, "")) }
		schema, table, _ := strings.Cut(plain(other), ".")
		entry := generator.EntryOf(table)
		return slices.Contains([]string{plain(other), table, entry, schema + "." + entry}, plain(name))
	}
	if i := slices.IndexFunc(all, meant); i >= 0 {
		return nil, fmt.Errorf("the database has no table %q; names are written as in SQL: --table '%s'", name, all[i])
	}
	var tables []string
	for _, other := range all {
		_, table, _ := strings.Cut(other, ".")
		tables = append(tables, strings.Trim(table, `"`))
	}
	return nil, cmp.Or(err, syntax.Unknown("the database", "table", name, tables))
}
