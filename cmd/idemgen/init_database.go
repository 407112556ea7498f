package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/runtime/pgtable"
)

// fromDatabase says which tables a first spec describes.
type fromDatabase struct {
	address
	tables []string // as SQL names them; none: all
}

// read reads what the tables are like.
func (f *fromDatabase) read(ctx context.Context) ([]*pgtable.Table, error) {
	db, err := connect(ctx, "--from-db", f.url)
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
		t, err := pgtable.Read(ctx, db, name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case t == nil:
			errs = append(errs, fmt.Errorf("there is no table %s in the database", name))
		default:
			all = append(all, t)
		}
	}
	if len(all) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("the database has no tables"))
	}
	return all, errors.Join(errs...)
}
