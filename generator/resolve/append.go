package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

func init() {
	verbs["append"] = verb{model.Facts{Makes: true}, func(report *schema.Diagnostics, st *draft.Step) {
		st.Model.If.Exists = "error"
		st.Model.Stream = &model.Stream{}
		columns, complete := resolveStream(report, st)
		position := resolvePosition(report, st)
		if position == nil || slices.Contains(columns, position) {
			complete = false // what fill says of position is no news
		} else {
			fill(report, st)
		}
		if !complete || st.Table.Broken {
			st.Whole = false
			return
		}
		st.Model.Stream.Columns, st.Model.Stream.Position = models(columns), position.Model
		resolveNumbered(report, st)
		for _, c := range columns {
			checkStreamColumn(report, st, c)
		}
	}}
}

// resolveStream reads the columns that name the stream.
func resolveStream(report *schema.Diagnostics, st *draft.Step) (columns []*draft.Column, complete bool) {
	if st.Spec.Own.Stream == nil {
		report.Add(st.Spec.Verb.Pos, "E105", `append step lacks the key "stream": the columns that name the stream`, "stream: [<column>]")
		return nil, false
	}
	columns, complete = columnList(report, st.Table, st.Spec.Own.Stream, "stream")
	for _, c := range columns {
		if at := st.Spec.Own.Position; at != nil && at.Value == c.Spec.Name.Value {
			report.Add(itemPos(st.Spec.Own.Stream, c), "E602", fmt.Sprintf("column %s is named twice in this step: it numbers the rows of a stream, and names the stream", wording.Quote(at.Value)), "drop it here")
		}
	}
	return columns, complete
}

// resolvePosition reads the column that numbers the rows, and the number that the event expects.
func resolvePosition(report *schema.Diagnostics, st *draft.Step) *draft.Column {
	at := st.Spec.Own.Position
	if at == nil {
		report.Add(st.Spec.Verb.Pos, "E105", `append step lacks the key "position": the column that numbers the rows of a stream`, "position: <column>")
		return nil
	}
	c := nameColumn(report, st, *at)
	if c == nil || c.Broken {
		return nil
	}
	switch c.Model.Type.Kind {
	case model.ColSmallint, model.ColInteger, model.ColBigint:
	default:
		report.Add(at.Pos, "E302", fmt.Sprintf("%s (%s) cannot number rows", c.Is(), c.Spec.Type.Word), "use bigint")
		return nil
	}
	if !checkWritable(report, c, at.Pos, "") {
		return nil
	}
	if c.Model.Nullable {
		report.Add(at.Pos, "E303", c.Is()+" may be null, so it cannot number rows", `drop "nullable"`)
		return nil
	}
	put(st, c, resolveExpected(report, st, c))
	return c
}

func resolveExpected(report *schema.Diagnostics, st *draft.Step, c *draft.Column) draft.Value {
	at := st.Spec.Own.Expect
	if at == nil {
		return draft.Value{Model: model.Value{Kind: model.NextValue}, Known: true}
	}
	if st.PerElement() {
		report.Add(at.Key, "E308", "expect names one number, but each makes a row of every element", "drop expect: the elements are numbered in their order")
		return draft.Value{}
	}
	f := use(report, st.Event, *at, fieldOnly)
	v := checkFill(report, st, c, fieldValue(f, at.Value), at.Pos)
	if v.Known && f.Source.Kind == model.FromRecord {
		report.Add(at.Pos, "E506", fmt.Sprintf("expect takes the record's %s, which is no number of a stream", f.Source.Record), "use the position that the producer sets")
		v.Known = false
	}
	return v
}

// resolveNumbered finds the key that keeps two rows from getting one number.
func resolveNumbered(report *schema.Diagnostics, st *draft.Step) {
	s := st.Model.Stream
	numbered := append(slices.Clone(s.Columns), s.Position)
	for _, key := range st.Table.Keys() {
		if model.SameColumns(key, numbered) {
			st.Model.By = key
			return
		}
	}
	report.Add(st.Spec.Own.Stream.Key, "E605", fmt.Sprintf("%s is not the primary key or a unique key of %s", wording.Bracketed(model.ColumnNames(numbered)), wording.Quote(st.Spec.Table.Value)),
		"two events of a stream must not get the same position")
	st.Whole = false
}

// checkStreamColumn refuses an append that does not say which stream it means.
func checkStreamColumn(report *schema.Diagnostics, st *draft.Step, c *draft.Column) {
	v, set := st.Set[c]
	switch {
	case !set && (c.Model.ByDatabase() || st.Named[c]):
		report.Add(st.Spec.Own.Stream.Key, "E601", c.Is()+" gets no value, but it names the stream", "fill it from the event")
	case set && v.Known && (v.Type.Optional || v.Model.Kind == model.NullValue):
		report.Add(st.Spec.Own.Stream.Key, "E303", c.Is()+" may be null, but it names the stream", "make the field required")
	case set && v.Known && v.Model.Kind == model.NowValue:
		report.Add(st.Spec.Own.Stream.Key, "E601", c.Is()+" is the transaction time, so every transaction would begin a stream", "fill it from the event")
	default:
		return
	}
	st.Whole = false
}
