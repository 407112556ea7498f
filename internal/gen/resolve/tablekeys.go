package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveTableKeys looks up primary key and unique keys.
func resolveTableKeys(report *syntax.Diagnostics, t *draft.Table) {
	if t.Spec.PrimaryKey == nil || len(t.Spec.PrimaryKey.Items) == 0 {
		t.Broken = true
		return
	}
	columns, complete := columnList(report, t, t.Spec.PrimaryKey, "primary_key")
	t.Broken = t.Broken || !complete
	for _, c := range columns {
		if c.Model.Nullable {
			report.Add(itemPos(t.Spec.PrimaryKey, c), "E604", fmt.Sprintf("primary key of %s: column %s is nullable", wording.Quote(t.Spec.Name.Value), wording.Quote(c.Spec.Name.Value)),
				`remove "nullable", or choose another key`)
		}
		checkKeyColumn(report, t.Spec.PrimaryKey, c, "primary key")
	}
	t.Model.PrimaryKey = models(columns)
	for i := range t.Spec.Unique {
		columns, complete := columnList(report, t, &t.Spec.Unique[i], "unique")
		t.Broken = t.Broken || !complete
		for _, c := range columns {
			checkKeyColumn(report, &t.Spec.Unique[i], c, "unique key")
		}
		if complete && checkNewKey(report, t, &t.Spec.Unique[i], columns) {
			t.Model.Unique = append(t.Model.Unique, models(columns))
		}
	}
}

// checkKeyColumn refuses columns whose equality is not that of the value sent.
func checkKeyColumn(report *syntax.Diagnostics, list *syntax.Texts, c *draft.Column, what string) {
	if c.Model.Type.FitsKey() {
		return
	}
	hint := "use a text, uuid, integer, numeric, date or timestamp column"
	if c.Model.Type.Kind == model.ColParsed && what == "unique key" {
		hint = "leave it out, and create the unique index in a migration of your own: the service finds it at startup and respects it"
	}
	report.Add(itemPos(list, c), "E604", fmt.Sprintf("%s (%s) cannot be part of a %s", c.Is(), c.Spec.Type.Word, what), hint)
}

// checkNewKey refuses a unique key that says what an earlier one says.
func checkNewKey(report *syntax.Diagnostics, t *draft.Table, list *syntax.Texts, columns []*draft.Column) bool {
	same := func(key []*model.Column) bool { return model.SameColumns(key, models(columns)) }
	switch {
	case same(t.Model.PrimaryKey):
		report.Add(list.Pos, "E107", fmt.Sprintf("unique key %s of %s is its primary key", wording.Bracketed(textsOf(list)), wording.Quote(t.Spec.Name.Value)), "remove it: a primary key is unique")
	case slices.ContainsFunc(t.Model.Unique, same):
		report.Add(list.Pos, "E107", fmt.Sprintf("unique key %s of %s is declared twice", wording.Bracketed(textsOf(list)), wording.Quote(t.Spec.Name.Value)), "keep one of them")
	default:
		return true
	}
	return false
}

func resolveForeignKey(report *syntax.Diagnostics, tables *draft.Tables, t *draft.Table, fk *syntax.ForeignKey) {
	if fk.Broken || fk.Columns == nil || fk.References == nil {
		return
	}
	columns, complete := columnList(report, t, fk.Columns, "foreign_keys")
	parent := tables.Find(fk.References.Value)
	if parent == nil {
		unknownTable(report, tables, *fk.References)
		return
	}
	if !complete || parent.Broken || len(parent.Model.PrimaryKey) == 0 {
		return
	}
	pk := parent.Model.PrimaryKey
	if len(columns) != len(pk) {
		report.Add(fk.Columns.Pos, "E608", fmt.Sprintf("foreign key to %s needs one column for each column of its primary key: %s", wording.Quote(fk.References.Value), strings.Join(model.ColumnNames(pk), ", ")),
			"a foreign key refers to the whole primary key, in the same order")
		return
	}
	onDelete := "restrict"
	if fk.OnDelete != nil {
		onDelete = fk.OnDelete.Value
	}
	for i, c := range columns {
		if c.Model.Type != pk[i].Type {
			report.Add(itemPos(fk.Columns, c), "E608", fmt.Sprintf("%s (%s) cannot refer to %s (%s)", c.Is(), c.Spec.Type.Word, parent.Of(pk[i]).Is(), parent.Of(pk[i]).Spec.Type.Word),
				"give both columns the same type")
		}
		if onDelete == "set_null" && !c.Model.Nullable {
			report.Add(fk.OnDelete.Pos, "E608", fmt.Sprintf("on_delete: set_null cannot work: %s may not be null", c.Is()), "make the column nullable, or use cascade or restrict")
		}
	}
	checkParentExists(report, t, parent, fk.References.Pos)
	t.ForeignKeys = append(t.ForeignKeys, fk.Columns.Pos)
	t.Model.ForeignKeys = append(t.Model.ForeignKeys, model.ForeignKey{Columns: models(columns), References: parent.Model, OnDelete: onDelete})
}

// itemPos is where a list names the column.
func itemPos(list *syntax.Texts, c *draft.Column) syntax.Pos {
	for _, item := range list.Items {
		if item.Value == c.Spec.Name.Value {
			return item.Pos
		}
	}
	return list.Pos
}

func models(columns []*draft.Column) []*model.Column {
	var out []*model.Column
	for _, c := range columns {
		out = append(out, c.Model)
	}
	return out
}

func textsOf(list *syntax.Texts) []string {
	var out []string
	for _, item := range list.Items {
		out = append(out, item.Value)
	}
	return out
}
