package generator

import (
	"cmp"
	"context"
	"slices"

	"github.com/idemgen/idemgen/generator/gocode"
	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/sqlcode"
	"github.com/idemgen/idemgen/runtime/pgtable"
	"github.com/idemgen/idemgen/schema"
)

// Compare holds the tables of the specs against a database, and reports whether they are as the
// specs say. What differs is added to the problems (E620). The result must not be refused.
func (r *Result) Compare(ctx context.Context, db pgtable.Querier) (same bool, err error) {
	same = true
	for _, u := range r.units {
		found, err := pgtable.Runtime(ctx, db, u.service.Schema)
		if err != nil {
			return false, err
		}
		for _, d := range found {
			same = false
			u.problems.Add(u.parsed.Consumer.Pos, "E620", d.Text, d.Advice)
		}
		for _, t := range u.service.Tables {
			found, err := pgtable.Compare(ctx, db, wantOf(u.service, t))
			if err != nil {
				return false, err
			}
			for _, d := range found {
				same = false
				u.problems.Add(difference(u, t, d), "E620", d.Text, d.Advice)
			}
		}
	}
	r.report(r.units, false)
	return same, nil
}

// wantOf is what a spec says of a table.
func wantOf(s *model.Service, t *model.Table) *pgtable.Want {
	w := &pgtable.Want{SQL: sqlName(t), Rights: gocode.Rights(s, t)}
	for _, c := range t.Columns {
		w.Columns = append(w.Columns, pgtable.WantColumn{
			Name: c.InDatabase(), Type: c.Type.String(), Nullable: c.Nullable, Filled: c.ByDatabase(), Default: c.Default != nil,
			Left: gocode.Left(s, c), Null: gocode.Null(s, c), Texts: gocode.Texts(s, c),
		})
	}
	for _, fk := range t.ForeignKeys {
		w.References = append(w.References, pgtable.Reference{Columns: storedNames(fk.Columns), Table: sqlName(fk.References), OnDelete: fk.OnDelete})
	}
	for _, index := range t.Indexes {
		w.Indexes = append(w.Indexes, storedNames(index))
	}
	for _, key := range append([][]*model.Column{t.PrimaryKey}, t.Unique...) {
		w.Unique = append(w.Unique, storedNames(key))
	}
	return w
}

// sqlName is what statements call a table.
func sqlName(t *model.Table) string { return cmp.Or(sqlcode.TableName(t), t.Name) }

// tableEntry is what the spec says of a table.
func tableEntry(spec *schema.Spec, t *model.Table) *schema.Table {
	i := slices.IndexFunc(spec.Tables, func(entry *schema.Table) bool { return entry.Name.Value == t.Name })
	return spec.Tables[i]
}

func storedNames(columns []*model.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.InDatabase())
	}
	return names
}

// difference is the place in the spec that a difference is about.
func difference(u *unit, t *model.Table, d pgtable.Difference) schema.Pos {
	spec := tableEntry(u.parsed, t)
	for i, c := range t.Columns {
		switch {
		case c.InDatabase() != d.Column:
		case d.Type:
			return spec.Columns[i].Type.Pos
		case spec.Columns[i].Stored != nil:
			return spec.Columns[i].Stored.Pos
		default:
			return spec.Columns[i].Name.Pos
		}
	}
	if d.Key == nil {
		return spec.Name.Pos
	}
	for i, key := range t.Unique {
		if d.Of == pgtable.OfUnique && slices.Equal(storedNames(key), d.Key) {
			return spec.Unique[i].Pos
		}
	}
	for i, key := range t.Indexes {
		if d.Of == pgtable.OfIndex && slices.Equal(storedNames(key), d.Key) {
			return spec.Indexes[i].Pos
		}
	}
	for i, fk := range t.ForeignKeys {
		if d.Of == pgtable.OfReference && slices.Equal(storedNames(fk.Columns), d.Key) {
			return spec.ForeignKeys[i].Pos
		}
	}
	return spec.PrimaryKey.Pos
}
