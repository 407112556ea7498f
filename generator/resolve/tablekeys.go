package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// resolveTableKeys looks up primary key, unique keys and indexes.
func resolveTableKeys(report *schema.Diagnostics, t *table) {
	if t.spec.PrimaryKey == nil || len(t.spec.PrimaryKey.Items) == 0 {
		t.broken = true
		return
	}
	columns, complete := columnList(report, t, t.spec.PrimaryKey, "primary_key")
	t.broken = t.broken || !complete
	for _, c := range columns {
		if c.model.Nullable {
			report.Add(itemPos(t.spec.PrimaryKey, c), "E604", fmt.Sprintf("primary key of %s: column %s is nullable", quote(t.spec.Name.Value), quote(c.spec.Name.Value)),
				`drop "nullable", or choose another key`)
		}
		checkKeyColumn(report, t.spec.PrimaryKey, c, "primary key")
	}
	t.model.PrimaryKey = models(columns)
	for i := range t.spec.Unique {
		columns, complete := columnList(report, t, &t.spec.Unique[i], "unique")
		t.broken = t.broken || !complete
		for _, c := range columns {
			checkKeyColumn(report, &t.spec.Unique[i], c, "unique key")
		}
		if complete && checkNewKey(report, t, &t.spec.Unique[i], columns) {
			t.model.Unique = append(t.model.Unique, models(columns))
		}
	}
	for i := range t.spec.Indexes {
		columns, _ := columnList(report, t, &t.spec.Indexes[i], "indexes")
		for _, c := range columns {
			if c.model.Type.Kind == model.ColJSON {
				report.Add(itemPos(&t.spec.Indexes[i], c), "E610", fmt.Sprintf("%s (json) has no order, so a plain index cannot hold it", c.is()), "use jsonb, or create the index in a migration of your own")
			}
		}
		t.model.Indexes = append(t.model.Indexes, models(columns))
	}
}

// checkKeyColumn refuses columns whose equality is not that of the value sent.
func checkKeyColumn(report *schema.Diagnostics, list *schema.Texts, c *column, what string) {
	switch c.model.Type.Kind {
	case model.ColJSON, model.ColJSONB, model.ColDouble, model.ColTextArray, model.ColIntegerArray, model.ColBigintArray, model.ColUUIDArray:
		report.Add(itemPos(list, c), "E604", fmt.Sprintf("%s (%s) cannot be part of a %s", c.is(), c.spec.Type.Word, what),
			"use a text, uuid, integer, numeric, date or timestamp column")
	}
}

// checkNewKey refuses a unique key that says what an earlier one says.
func checkNewKey(report *schema.Diagnostics, t *table, list *schema.Texts, columns []*column) bool {
	same := func(key []*model.Column) bool { return sameColumns(key, models(columns)) }
	switch {
	case same(t.model.PrimaryKey):
		report.Add(list.Pos, "E107", fmt.Sprintf("unique key %s of %s is its primary key", bracketed(textsOf(list)), quote(t.spec.Name.Value)), "drop it: a primary key is unique")
	case slices.ContainsFunc(t.model.Unique, same):
		report.Add(list.Pos, "E107", fmt.Sprintf("unique key %s of %s is declared twice", bracketed(textsOf(list)), quote(t.spec.Name.Value)), "keep one of them")
	default:
		return true
	}
	return false
}

func resolveForeignKey(report *schema.Diagnostics, tables *tables, t *table, fk *schema.ForeignKey) {
	if fk.Broken || fk.Columns == nil || fk.References == nil {
		return
	}
	columns, complete := columnList(report, t, fk.Columns, "foreign_keys")
	parent := tables.byName[fk.References.Value]
	if parent == nil {
		unknownTable(report, tables, *fk.References)
		return
	}
	if !complete || parent.broken || len(parent.model.PrimaryKey) == 0 {
		return
	}
	pk := parent.model.PrimaryKey
	if len(columns) != len(pk) {
		report.Add(fk.Columns.Pos, "E608", fmt.Sprintf("foreign key to %s needs %d column(s): %s", quote(fk.References.Value), len(pk), strings.Join(columnNames(pk), ", ")),
			"a foreign key points at the whole primary key, in its order")
		return
	}
	onDelete := "restrict"
	if fk.OnDelete != nil {
		onDelete = fk.OnDelete.Value
	}
	for i, c := range columns {
		if c.model.Type != pk[i].Type {
			report.Add(itemPos(fk.Columns, c), "E608", fmt.Sprintf("%s (%s) cannot refer to %s (%s)", c.is(), c.spec.Type.Word, parent.of(pk[i]).is(), parent.of(pk[i]).spec.Type.Word),
				"give both columns the same type")
		}
		if onDelete == "set_null" && !c.model.Nullable {
			report.Add(fk.OnDelete.Pos, "E608", fmt.Sprintf("on_delete: set_null cannot work: %s may not be null", c.is()), "make the column nullable, or use cascade or restrict")
		}
	}
	if parent.model.Unlogged && !t.model.Unlogged {
		report.Add(fk.References.Pos, "E608", fmt.Sprintf("foreign key to %s, which is unlogged: Postgres refuses it in a table that is not", quote(fk.References.Value)),
			"say unlogged: true of "+quote(t.spec.Name.Value)+", too, or of neither")
	}
	t.foreignKeys = append(t.foreignKeys, foreignKey{columns, fk.Columns.Pos})
	t.model.ForeignKeys = append(t.model.ForeignKeys, model.ForeignKey{Columns: models(columns), References: parent.model, OnDelete: onDelete})
}

// itemPos is where a list names the column.
func itemPos(list *schema.Texts, c *column) schema.Pos {
	for _, item := range list.Items {
		if item.Value == c.spec.Name.Value {
			return item.Pos
		}
	}
	return list.Pos
}

func models(columns []*column) []*model.Column {
	var out []*model.Column
	for _, c := range columns {
		out = append(out, c.model)
	}
	return out
}

func columnNames(columns []*model.Column) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

func textsOf(list *schema.Texts) []string {
	var out []string
	for _, item := range list.Items {
		out = append(out, item.Value)
	}
	return out
}

// sameColumns reports whether two keys hold the same columns, in any order.
func sameColumns(a, b []*model.Column) bool {
	return len(a) == len(b) && containsColumns(a, b)
}

// containsColumns reports whether every column of part is in whole.
func containsColumns(whole, part []*model.Column) bool {
	for _, c := range part {
		if !slices.Contains(whole, c) {
			return false
		}
	}
	return true
}
