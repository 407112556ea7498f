package seedlog

import (
	"cmp"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// roles says what each field is for: fields, columns and record-key parts that must hold
// the same value for the same row are one class.
type roles struct {
	topic    *model.Topic
	steps    map[*model.Event][]*model.Step // what it does to rows, its handler included
	parent   map[any]any                    // union-find over *model.Field, *model.Column, *model.KeyPart, element
	classes  map[any]*class
	written  map[*model.Table]bool // some event of the topic makes rows of it
	versions map[*model.Column]bool
	byRecord map[byRecord]bool
	absent   map[*model.Field]bool // always NULL: it names a parent that no event of the topic makes
	keys     map[*model.Column]bool
	second   map[*model.Field]bool      // names another row than an earlier field of its event does
	before   []*model.Table             // rows of them are there before the log, parents before children
	given    map[*model.Table]model.Row // a row of a case, like which those of the table are
	maybe    map[*model.Table]bool      // those of them that some rows lack: a handler may make them
}

// element stands for the elements of a list of scalars.
type element struct{ list *model.Field }

// byRecord is a key field that gets another value in every record of an event, because
// the row that it names belongs to that event alone.
type byRecord struct {
	event *model.Event
	field *model.Field
}

func rolesOf(s *model.Service, t *model.Topic, given []model.Row) *roles {
	r := &roles{topic: t, steps: map[*model.Event][]*model.Step{}, given: map[*model.Table]model.Row{}, maybe: map[*model.Table]bool{}, parent: map[any]any{}, classes: map[any]*class{}, written: map[*model.Table]bool{},
		versions: map[*model.Column]bool{}, byRecord: map[byRecord]bool{}, absent: map[*model.Field]bool{},
		second: map[*model.Field]bool{}}
	for _, row := range slices.Backward(given) {
		r.given[row.Table] = row
	}
	r.findSteps(s)
	r.keys = r.keyColumns(s)
	r.findBefore(s)
	r.findMakers()
	for _, tab := range s.Tables {
		for _, fk := range tab.ForeignKeys {
			for i, c := range fk.Columns {
				r.join(fk.References.PrimaryKey[i], c)
			}
		}
	}
	r.values(func(_ *model.Event, _ *model.Step, c *model.Column, node any, _ model.FieldType) {
		if r.keys[c] {
			r.join(c, node)
		}
	})
	for _, e := range t.Events {
		for _, f := range e.Fields {
			if part := partOf(f); part != nil {
				r.join(part, f)
			}
		}
	}
	r.describe(s)
	for _, e := range t.Events {
		r.findSecond(e)
		r.findAbsent(e)
		r.findByRecord(e)
	}
	return r
}

// partOf is the record-key part that the field is read from or must agree with; nil if none.
func partOf(f *model.Field) *model.KeyPart {
	if f.Source.Kind == model.FromRecordKey {
		return f.Source.Part
	}
	return f.SamePart
}

// values calls fn for every value of a step that comes from the event. node is the field,
// the member of the list's element, or the element.
func (r *roles) values(fn func(e *model.Event, s *model.Step, c *model.Column, node any, t model.FieldType)) {
	for _, e := range r.topic.Events {
		for _, s := range r.steps[e] {
			assigns := slices.Concat(s.Set, s.Where)
			if s.If.Newer != nil {
				assigns = append(assigns, model.Assign{Column: s.If.Newer, Value: s.If.Version})
			}
			for _, a := range assigns {
				switch v := a.Value; {
				case v.Field != nil:
					fn(e, s, a.Column, v.Field, v.Field.Type)
				case v.Kind == model.ElemValue:
					fn(e, s, a.Column, element{s.Each}, *s.Each.Type.Elem)
				case v.Kind == model.PositionValue:
					fn(e, s, a.Column, s, model.FieldType{Kind: model.Int32})
				}
			}
		}
	}
}

// keyColumns are the columns that tell rows apart or tie them together.
func (r *roles) keyColumns(s *model.Service) map[*model.Column]bool {
	keys := map[*model.Column]bool{}
	add := func(columns []*model.Column) {
		for _, c := range columns {
			keys[c] = true
		}
	}
	for _, t := range s.Tables {
		add(t.PrimaryKey)
		for _, u := range t.Unique {
			add(u)
		}
		for _, fk := range t.ForeignKeys {
			add(fk.Columns)
		}
	}
	for _, e := range r.topic.Events {
		for _, step := range r.steps[e] {
			add(step.By)
			for _, a := range step.Where {
				keys[a.Column] = true
			}
			if step.If.Newer != nil {
				r.versions[step.If.Newer] = true
			}
		}
	}
	return keys
}

func (r *roles) root(node any) any {
	for r.parent[node] != nil {
		node = r.parent[node]
	}
	return node
}

// join makes b's class part of a's.
func (r *roles) join(a, b any) {
	if a, b = r.root(a), r.root(b); a != b {
		r.parent[b] = a
	}
}

func (r *roles) class(node any) *class {
	root := r.root(node)
	if r.classes[root] == nil {
		r.classes[root] = newClass()
	}
	return r.classes[root]
}

// describe fills in what the members of each class need.
func (r *roles) describe(s *model.Service) {
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			if !r.keys[c] {
				continue
			}
			cl := r.class(c)
			cl.row = true
			if cl.label == "" && slices.Contains(t.PrimaryKey, c) {
				cl.label = c.Name
				if c.Name == "id" {
					cl.label = t.Name
				}
			}
		}
	}
	for _, t := range r.before {
		for _, c := range t.Columns {
			if cl := r.class(c); r.keys[c] {
				cl.limit(c.Type)
				cl.label = cmp.Or(cl.label, c.Name)
			}
		}
	}
	for _, e := range r.topic.Events {
		for _, f := range e.Fields {
			if part := partOf(f); part != nil {
				cl := r.class(part)
				cl.row = true
				if cl.label == "" {
					cl.label = part.Name
				}
			}
		}
	}
	if r.topic.RecordKey != nil {
		for _, p := range r.topic.RecordKey.Parts {
			cl := r.class(p)
			cl.row = true
			cl.uuid = cl.uuid || p.Type.Kind == model.UUID
		}
	}
	r.values(func(e *model.Event, step *model.Step, c *model.Column, node any, t model.FieldType) {
		cl := r.class(node)
		cl.limit(c.Type)
		if list, ok := node.(*model.Field); ok && c.Type.Kind == model.ColArray {
			r.class(element{list}).limit(c.Type.Element())
		}
		cl.added = cl.added || sums(step, c, model.Adds)
		cl.taken = cl.taken || sums(step, c, model.Subtracts)
		cl.uuid = cl.uuid || t.Kind == model.UUID
		if t.Kind == model.Enum {
			cl.enum = t.Named
		}
		_, isField := node.(*model.Field)
		cl.element = cl.element || !isField || !slices.Contains(e.Fields, node.(*model.Field))
	})
}

// findAbsent leaves out optional fields that name a row which no event of the topic can
// have made: with it the event would always be refused.
func (r *roles) findAbsent(e *model.Event) {
	for _, s := range r.steps[e] {
		for _, fk := range s.Table.ForeignKeys {
			if r.written[fk.References] || slices.Contains(r.before, fk.References) {
				continue
			}
			for _, a := range s.Set {
				if f := a.Value.Field; f != nil && f.Type.Optional && slices.Contains(fk.Columns, a.Column) {
					r.absent[f] = true
				}
			}
		}
	}
}

// findSecond finds fields that name a row of the same table as an earlier field of the event, as
// the second account of a transfer does. They name another row if all rows are there before the
// log, and stay.
func (r *roles) findSecond(e *model.Event) {
	stays := map[*class]bool{}
	for _, t := range r.before {
		if len(t.PrimaryKey) == 1 && !slices.ContainsFunc(r.topic.Flush, func(s *model.Step) bool {
			return s.Table == t && (s.Makes || s.Removes) || slices.Contains(s.Cascades, t)
		}) {
			stays[r.class(t.PrimaryKey[0])] = true
		}
	}
	seen := map[*class]bool{}
	for _, f := range e.Fields {
		if partOf(f) != nil { // the record key is there whatever the order of the fields
			seen[r.class(f)] = true
		}
	}
	for _, f := range e.Fields {
		cl := r.class(f)
		if stays[cl] && seen[cl] && partOf(f) == nil {
			r.second[f] = true
		}
		seen[cl] = true
	}
}

// sums reports whether the step adds to the column, or takes from it.
func sums(s *model.Step, c *model.Column, how model.How) bool {
	return slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == c && a.How == how })
}

// findByRecord finds fields that only name rows no other event uses, such as the payment that a
// payment event inserts, and those that name no row in this event, though they do in others: they
// may differ from record to record.
func (r *roles) findByRecord(e *model.Event) {
	own := map[*model.Field]bool{}
	shared := map[*model.Field]bool{}
	for _, s := range r.steps[e] {
		alone := s.OnlyMakes() && s.Each == nil && r.usedOnlyBy(s)
		for _, a := range slices.Concat(s.Set, s.Where) {
			f := a.Value.Field
			if f == nil || !r.class(a.Column).row {
				continue
			}
			tied := slices.ContainsFunc(s.Table.ForeignKeys, func(fk model.ForeignKey) bool { return slices.Contains(fk.Columns, a.Column) })
			if alone && !tied {
				own[f] = true
			} else {
				shared[f] = true
			}
		}
	}
	for _, f := range e.Fields {
		named := own[f] || shared[f]
		if (own[f] || !named && r.class(f).row) && !shared[f] && partOf(f) == nil {
			r.byRecord[byRecord{e, f}] = true
		}
	}
}

// usedOnlyBy reports whether no other step of the topic names rows of the step's table.
// They may go with a parent row.
func (r *roles) usedOnlyBy(s *model.Step) bool {
	for _, e := range r.topic.Events {
		for _, o := range r.steps[e] {
			if o != s && o.Table == s.Table {
				return false
			}
			for _, fk := range o.Table.ForeignKeys {
				if fk.References == s.Table {
					return false
				}
			}
		}
	}
	return true
}

// isVersion reports whether a field of the event fills a column that if_newer compares.
func (r *roles) isVersion(e *model.Event, f *model.Field) bool {
	for _, s := range r.steps[e] {
		for _, a := range s.Set {
			if a.Value.Field == f && r.versions[a.Column] {
				return true
			}
		}
		if s.If.Version.Field == f && s.If.Newer != nil {
			return true
		}
	}
	return false
}
