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

func init() {
	verbs["upsert"] = verb{model.Facts{Makes: true, Changes: true}, func(report *syntax.Diagnostics, st *draft.Step) {
		fill(report, st)
		resolveBy(report, st)
		resolveKept(report, st)
		st.Model.Changes = overwrites(st)
	}}
}

// overwrites reports whether the upsert changes a row that is there.
func overwrites(st *draft.Step) bool {
	for c, v := range st.Set {
		if v.How == model.Overwrites && !slices.Contains(st.Model.By, c.Model) {
			return true
		}
	}
	return false
}

// resolveKept reads the columns that a row which is there keeps.
func resolveKept(report *syntax.Diagnostics, st *draft.Step) {
	keep := st.Spec.Own.Keep
	if keep == nil {
		return
	}
	columns, complete := columnList(report, st.Table, keep, "keep")
	st.Whole = st.Whole && complete
	for _, c := range columns {
		v, filled := st.Set[c]
		switch {
		case slices.Contains(st.Model.By, c.Model):
			report.Add(itemPos(keep, c), "E602", c.Is()+" finds the row, so it stays unchanged", "remove it here")
			st.Whole = false
		case !filled && (st.Named[c] || c.Model.ByDatabase()):
			report.Add(itemPos(keep, c), "E602", c.Is()+" is not written by this step, so it stays unchanged", "remove it here")
			st.Whole = false
		case filled:
			v.How = model.Keeps
			st.Set[c] = v
		}
	}
}

// resolveBy reads the unique key that decides "same row" of an upsert.
func resolveBy(report *syntax.Diagnostics, st *draft.Step) {
	st.Model.By = st.Table.Model.PrimaryKey
	if by := st.Spec.Own.By; by != nil {
		columns, complete := columnList(report, st.Table, by, "by")
		if !complete || st.Table.Broken {
			st.Whole, st.Model.By = false, nil
			return
		}
		st.Model.By = nil
		var declared []string
		for _, key := range st.Table.Keys() {
			declared = append(declared, wording.Bracketed(model.ColumnNames(key)))
			if model.SameColumns(key, models(columns)) {
				st.Model.By = key
			}
		}
		if st.Model.By == nil {
			report.Add(by.Pos, "E605", fmt.Sprintf("by: %s is not the primary key or a unique key of %s", wording.Bracketed(textsOf(by)), wording.Quote(st.Spec.Table.Value)), "declared: "+strings.Join(declared, ", "))
			st.Whole = false
		}
	}
	for _, b := range st.Model.By {
		checkBy(report, st, st.Table.Of(b))
	}
}

// checkBy refuses an upsert that does not say which row it means.
func checkBy(report *syntax.Diagnostics, st *draft.Step, c *draft.Column) {
	v, set := st.Set[c]
	switch {
	case !set && (c.Model.Identity || st.Named[c]):
		report.Add(st.Spec.Table.Pos, "E601", fmt.Sprintf("%s gets no value, but the upsert finds the row by it", c.Is()), "name another unique key with by:, or use insert")
	case set && v.Known && (v.Type.Optional || v.Model.Kind == model.NullValue):
		report.Add(st.Spec.Table.Pos, "E303", fmt.Sprintf("%s may be null, but the upsert finds the row by it: nulls are never the same row", c.Is()), "make the field required, or name another unique key with by:")
	case set && v.Known && v.Model.Kind == model.NowValue:
		report.Add(st.Spec.Table.Pos, "E601", fmt.Sprintf("%s is the transaction time, so the upsert would never find its row by it", c.Is()), "fill it from the event, or use insert")
	default:
		return
	}
	st.Whole = false
}
