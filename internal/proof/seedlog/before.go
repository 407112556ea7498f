package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// A topic may change rows that it does not make, or name them as parents: another topic makes
// them, or nothing of the spec does. Such rows are there before the first record, else none of
// its events would take effect.

// findBefore finds the tables of those rows, parents before children.
func (r *roles) findBefore(s *model.Service) {
	b := &before{roles: r, service: s, busy: map[*model.Table]bool{}}
	for _, e := range r.topic.Events {
		for _, step := range b.roles.steps[e] {
			b.table(step.Table)
			for _, fk := range step.Table.ForeignKeys {
				if slices.ContainsFunc(step.Set, func(a model.Assign) bool {
					return slices.Contains(fk.Columns, a.Column) && a.Value.Kind != model.NullValue
				}) {
					b.table(fk.References)
				}
			}
		}
	}
	r.before = b.tables
}

type before struct {
	roles   *roles
	service *model.Service
	tables  []*model.Table
	busy    map[*model.Table]bool // on the way from a table to its parents
}

// table reports whether rows of the table are there before the log.
func (b *before) table(t *model.Table) bool {
	switch {
	case slices.Contains(b.tables, t):
		return true
	case b.busy[t], b.roles.written[t], !b.foreign(t):
		return false
	}
	b.busy[t] = true
	defer delete(b.busy, t)
	for _, fk := range t.ForeignKeys {
		optional := slices.ContainsFunc(fk.Columns, func(c *model.Column) bool { return c.Nullable })
		if fk.References != t && !b.table(fk.References) && !optional {
			return false
		}
	}
	for _, c := range t.Columns {
		key := b.roles.keys[c]
		if c.ByDatabase() && key || !c.ByDatabase() && !c.Nullable && !b.has(t, c) {
			return false
		}
	}
	b.tables = append(b.tables, t)
	return true
}

// foreign reports whether the rows are not the topic's: others make the table, another topic makes
// its rows, or nothing in the spec does, and no handler of the topic can. If a case has rows of it
// before its events, a handler may make them all the same.
func (b *before) foreign(t *model.Table) bool {
	if t.External {
		return true
	}
	makes := func(s *model.Step) bool { return s.Table == t && s.Makes }
	for _, o := range b.service.Topics {
		if o != b.roles.topic && slices.ContainsFunc(o.Events, func(e *model.Event) bool { return slices.ContainsFunc(e.Steps, makes) }) {
			return true
		}
	}
	if !slices.ContainsFunc(b.roles.topic.Events, func(e *model.Event) bool { return e.HasCode() }) {
		return true
	}
	_, given := b.roles.given[t]
	b.roles.maybe[t] = given && !slices.ContainsFunc(b.roles.topic.Events, func(e *model.Event) bool { return e.Handle && e.OnFailure.GiveUp == "stop" })
	return given
}

// has reports whether there is a value for the column: of a type of the team's own, only one
// that the spec or a case has.
func (b *before) has(t *model.Table, c *model.Column) bool {
	_, given := b.roles.given[t]
	return given && !b.roles.keys[c] || c.Type.Kind != model.ColNamed || valueOf(b.service, c) != ""
}

// valueOf is some value that the spec gives a column: a constant, or a text of an enum.
func valueOf(s *model.Service, c *model.Column) string {
	if texts := s.TextsOf(c); len(texts) > 0 {
		return texts[0]
	}
	return ""
}

// rowsBefore are those rows for the records of one row, parents first. Where few texts are there
// for a key, some of the rows of a log are one row twice.
func (w *writer) rowsBefore(s *model.Service, tables []*model.Table, row int) (out []model.Row) {
	now, element := w.now, w.element
	defer func() { w.now, w.element = now, element }()
	for _, t := range tables {
		elements := 1
		if slices.ContainsFunc(t.Columns, func(c *model.Column) bool { return w.roles.keys[c] && w.roles.class(c).element }) {
			elements = 2
		}
		for n := range elements {
			w.now, w.element = visit{row: row}, n+1
			out = append(out, w.rowBefore(s, t))
		}
	}
	return out
}

func (w *writer) rowBefore(s *model.Service, t *model.Table) model.Row {
	row := model.Row{Table: t}
	for _, c := range t.Columns {
		if c.ByDatabase() {
			continue
		}
		if given, ok := w.roles.given[t]; ok && !w.roles.keys[c] {
			row.Set = append(row.Set, slices.DeleteFunc(slices.Clone(given.Set), func(a model.Assign) bool { return a.Column != c })...)
			continue
		}
		value := model.Value{Kind: model.NullValue}
		if w.roles.keys[c] && !w.orphan(t, c) || !c.Nullable {
			value = model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: w.valueBefore(s, c)}}
		}
		row.Set = append(row.Set, model.Assign{Column: c, Value: value})
	}
	return row
}

// orphan reports whether the column names a parent that has no row.
func (w *writer) orphan(t *model.Table, c *model.Column) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool {
		return slices.Contains(fk.Columns, c) && fk.References != t && !slices.Contains(w.roles.before, fk.References)
	})
}

// valueBefore is what the column has: what the records have where it identifies a row, a
// version older than theirs, else a value for the row.
func (w *writer) valueBefore(s *model.Service, c *model.Column) string {
	if texts := s.TextsOf(c); c.Type.Kind == model.ColNamed && len(texts) > 0 {
		return texts[0]
	}
	cl, n := newClass(), w.now.row
	switch {
	case w.roles.keys[c]:
		cl = w.roles.class(c)
		n = w.rowNumber(cl)
	case w.roles.versions[c]:
		n = 0
	default:
		cl.limit(c.Type)
	}
	t := model.FieldType{Kind: kindsOf[c.Type.Kind]}
	switch {
	case t.Kind == model.List:
		return "{}"
	case cl.enum != nil:
		t = model.FieldType{Kind: model.Enum, Named: cl.enum}
	}
	label := cl.label
	if label == "" {
		label = c.Name
	}
	return scalar(t, cl, label, n)
}

// kindsOf are the kinds whose texts are constants of the column types.
var kindsOf = map[model.ColKind]model.Kind{
	model.ColText: model.String, model.ColVarchar: model.String, model.ColChar: model.String,
	model.ColBoolean: model.Bool, model.ColSmallint: model.Int32, model.ColInteger: model.Int32, model.ColBigint: model.Int64,
	model.ColNumeric: model.Decimal, model.ColReal: model.Float64, model.ColDouble: model.Float64, model.ColUUID: model.UUID,
	model.ColTimestamptz: model.Timestamp, model.ColTimestamp: model.LocalTimestamp, model.ColDate: model.Date,
	model.ColBytea: model.Bytes, model.ColJSONB: model.JSON, model.ColJSON: model.JSON,
	model.ColParsed: model.String, model.ColArray: model.List,
}
