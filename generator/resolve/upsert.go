package resolve

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["upsert"] = verb{model.Facts{Makes: true, Changes: true}, func(report *schema.Diagnostics, st *step) {
		fill(report, st)
		resolveBy(report, st)
	}}
}

// resolveBy reads the unique key that decides "same row" of an upsert.
func resolveBy(report *schema.Diagnostics, st *step) {
	st.model.By = st.table.model.PrimaryKey
	if by := st.spec.By; by != nil {
		columns, complete := columnList(report, st.table, by, "by")
		if !complete || st.table.broken {
			st.whole, st.model.By = false, nil
			return
		}
		st.model.By = nil
		var declared []string
		for _, key := range st.table.keys() {
			declared = append(declared, bracketed(columnNames(key)))
			if sameColumns(key, models(columns)) {
				st.model.By = key
			}
		}
		if st.model.By == nil {
			report.Add(by.Pos, "E605", fmt.Sprintf("by: %s is not the primary key or a unique key of %s", bracketed(textsOf(by)), quote(st.spec.Table.Value)), "declared: "+strings.Join(declared, ", "))
			st.whole = false
		}
	}
	for _, b := range st.model.By {
		checkBy(report, st, st.table.of(b))
	}
}

// checkBy refuses an upsert that does not say which row it means.
func checkBy(report *schema.Diagnostics, st *step, c *column) {
	v, set := st.set[c]
	switch {
	case !set && (c.model.Identity || st.named[c]):
		report.Add(st.spec.Table.Pos, "E601", fmt.Sprintf("%s gets no value, but the upsert finds the row by it", c.is()), "name another unique key with by:, or use insert")
	case set && v.known && (v.typ.Optional || v.model.Kind == model.NullValue):
		report.Add(st.spec.Table.Pos, "E303", fmt.Sprintf("%s may be null, but the upsert finds the row by it: nulls are never the same row", c.is()), "make the field required, or name another unique key with by:")
	case set && v.known && v.model.Kind == model.NowValue:
		report.Add(st.spec.Table.Pos, "E601", fmt.Sprintf("%s is the transaction time, so the upsert would never find its row by it", c.is()), "fill it from the event, or use insert")
	default:
		return
	}
	st.whole = false
}
