package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/pgtable"
)

// fromDatabase says which tables a first spec describes.
type fromDatabase struct {
	address
	tables []string // as SQL names them; none: all
}

// read reads what the tables are like.
func (f *fromDatabase) read(ctx context.Context, stderr io.Writer) ([]*pgtable.Table, error) {
	db, err := connect(ctx, stderr, "--from-db", f.url)
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
		return nil, fmt.Errorf("there is no table %s in the database; names are written as in SQL: --table '%s'", name, all[i])
	}
	return nil, cmp.Or(err, fmt.Errorf("there is no table %s in the database", name))
}

// printTableSteps says what is left to do where the spec describes tables that are there already.
func printTableSteps(w io.Writer, started *generator.Started) {
	fmt.Fprintf(w, `
Then, before anything is deployed:

1. Remove what belongs to the sample, the event RowAdded:

  rm -r %[1]s

2. In %[2]s put your topics and events in the place of events.v1 and RowAdded, and take
   out the tables that no event writes. Then:

  %[4]s init   # generates, and writes a main that fits them

3. Where an event has handle: true or effect, write its method in handler.go; until then its test
   fails. Then go test ./..., which makes your tables from the spec in databases of its own.
4. Apply %[3]s to your database. It makes the tables of idemgen's runtime, and changes
   none of yours.
5. Start the service with a role of its own: it names what the database lacks and what the role
   may not do, and begins nothing until that is mended.
`, strings.Join(started.Sample, " "), path.Base(started.Spec), started.Migrations, started.Tool)
}
