package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/goname"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// outNaming is the naming of an outbox event's value.
func outNaming(e *schema.OutEvent) string {
	if e.Naming == nil {
		return "snake_case"
	}
	return e.Naming.Value
}

// resolveOutbox reads what the service sends; nil if the spec has no outbox.
func (r *topicReader) resolveOutbox(spec *schema.Spec) *draft.Outbox {
	if spec.Outbox == nil {
		return nil
	}
	o := &draft.Outbox{Spec: spec.Outbox, Model: &model.Outbox{Table: outboxTable(r.consumer)}}
	for _, e := range spec.Outbox.Events {
		out := r.resolveOutEvent(o, e)
		o.Events = append(o.Events, out)
		o.Model.Events = append(o.Model.Events, out.Model)
	}
	slices.SortFunc(o.Model.Headers, func(a, b *model.OutHeader) int { return strings.Compare(a.Name, b.Name) })
	for _, h := range o.Model.Headers {
		o.Model.Table.Columns = append(o.Model.Table.Columns, h.Column)
	}
	return o
}

// outboxTable is the table that holds what the consumer sends. xid is drawn before id, as the
// relay needs it (docs/outbox.md).
func outboxTable(consumer *schema.Text) *model.Table {
	name := "idem_outbox"
	if consumer != nil {
		name += "_" + strings.ReplaceAll(consumer.Value, "-", "_")
	}
	column := func(name string, kind model.ColKind, def string) *model.Column {
		c := &model.Column{Name: name, Type: model.ColType{Kind: kind}}
		if def != "" {
			c.Default = &model.Default{Func: def}
		}
		return c
	}
	xid := column("xid", model.ColXID8, "pg_current_xact_id()")
	xid.Filled = true
	id := column("id", model.ColBigint, "")
	id.Identity = true
	payload := column("payload", model.ColBytea, "")
	payload.Nullable = true
	at := column("created_at", model.ColTimestamptz, "clock_timestamp()")
	at.Filled = true
	return &model.Table{
		Name: name, GoName: goname.Or(name, schema.Doc{}),
		Doc: model.Doc{Description: "What the consumer sends: a relay publishes each row and deletes it."},
		Columns: []*model.Column{xid, id, column("event_id", model.ColUUID, ""), column("topic", model.ColText, ""), column("record_key", model.ColText, ""),
			column("event_type", model.ColText, ""), payload, at},
		PrimaryKey: []*model.Column{id},
	}
}

func (r *topicReader) resolveOutEvent(o *draft.Outbox, spec *schema.OutEvent) *draft.OutEvent {
	m := &model.OutEvent{Name: spec.Name.Value, GoName: goname.Or(spec.Name.Value, spec.Doc), Doc: docOf(spec.Doc), Type: spec.Name.Value,
		Tombstone: spec.Tombstone != nil && spec.Tombstone.Value}
	e := &draft.OutEvent{Spec: spec, Model: m, Broken: spec.Broken}
	if spec.Topic != nil {
		m.Topic = spec.Topic.Value
	}
	if spec.Type != nil {
		m.Type = spec.Type.Value
	}
	types := r.spelled[outNaming(spec)]
	for _, f := range spec.Fields {
		in := resolveField(r.report, types, f, e.Is(), place{naming: outNaming(spec)})
		if in.Field != nil && !r.checkOutField(e, in) {
			in.Field = nil
		}
		e.Fields = append(e.Fields, in)
		if in.Field == nil {
			e.Broken = true
			continue
		}
		m.Fields, m.Payload = append(m.Fields, in.Field), append(m.Payload, in.Field)
	}
	r.resolveOutKey(e, types)
	r.resolveOutHeaders(o, e)
	return e
}

// checkOutField refuses what says how Go code or a payload is read (E806): a service writes these
// values.
func (r *topicReader) checkOutField(e *draft.OutEvent, in draft.Field) bool {
	f := in.Field
	refuse := func(what, hint string) bool {
		r.report.Add(in.Spec.Name.Pos, "E806", fmt.Sprintf("field %s of %s %s", wording.Quote(f.Name), e.Is(), what), hint)
		return false
	}
	switch {
	case len(f.Source.Path) != 1 || len(f.Source.Or) > 0:
		return refuse("has a path that is not the name of one member", "an outbox event has one level: declare a type with fields for what is deeper")
	case reads(f.Type, map[*model.Type]bool{}, func(t model.FieldType) bool { return t.Codec != nil || t.Go != nil }):
		return refuse("has a Go type or a codec, with which values are read", "declare it with a plain type")
	case reads(f.Type, map[*model.Type]bool{}, deepMember):
		return refuse("has a type with a member that has a path of several names, or several paths", "declare a type of its own for what is sent")
	}
	for _, o := range e.Model.Payload {
		if o.Source.Path[0] == f.Source.Path[0] {
			return refuse("is the same member of the value as field "+wording.Quote(o.Name), "give one of them another path")
		}
	}
	return true
}

// deepMember reports whether a member of an object type is not read from one name.
func deepMember(t model.FieldType) bool {
	return t.Kind == model.Object && slices.ContainsFunc(t.Named.Fields, func(m *model.Field) bool { return len(m.Source.Path) != 1 || len(m.Source.Or) > 0 })
}

// reads reports whether something holds of a type or of one that it is made of.
func reads(t model.FieldType, seen map[*model.Type]bool, holds func(model.FieldType) bool) bool {
	switch {
	case holds(t):
		return true
	case t.Elem != nil:
		return reads(*t.Elem, seen, holds)
	case t.Kind != model.Object || seen[t.Named]:
		return false
	}
	seen[t.Named] = true
	return slices.ContainsFunc(t.Named.Fields, func(m *model.Field) bool { return reads(m.Type, seen, holds) })
}

// resolveOutKey finds the field whose text is the record's key.
func (r *topicReader) resolveOutKey(e *draft.OutEvent, types *draft.Types) {
	spec := e.Spec.RecordKey
	if spec != nil && spec.Alone != nil {
		r.report.Add(spec.Alone.Pos, "E106", "record_key must be a map, not a text", "for example record_key: {"+spec.Alone.Value+": uuid}")
	}
	key := resolveRecordKey(r.report, types, spec)
	if key == nil || len(key.Parts) != 1 || key.Parts[0].Part == nil {
		e.Broken = true
		return
	}
	part := key.Parts[0]
	if part.Part.Type.Go != nil {
		r.report.Add(part.Spec.Type.Pos, "E806", fmt.Sprintf("the record key of %s has a Go type, with which values are read", e.Is()), "declare it with a plain type")
		e.Broken = true
		return
	}
	for _, in := range e.Fields {
		if in.Spec.Name.Value != part.Part.Name || in.Field == nil {
			continue
		}
		if typeword.Text(in.Field.Type) != typeword.Text(part.Part.Type) || in.Field.Type.Optional {
			r.report.Add(in.Spec.Type.Pos, "E313", fmt.Sprintf("field %s is %s, but the record key %s is %s", wording.Quote(in.Field.Name), in.Spec.Type.Text, wording.Quote(in.Field.Name), typeword.Text(part.Part.Type)),
				"a field and a record key of one name are one value, and have one type")
			e.Broken = true
		}
		e.Model.Key = in.Field
		return
	}
	e.Model.Key = part.Field
	e.Model.Fields = append(e.Model.Fields, part.Field)
}

// resolveOutHeaders finds the field of each header. Headers of one name share a column.
func (r *topicReader) resolveOutHeaders(o *draft.Outbox, e *draft.OutEvent) {
	for _, h := range e.Spec.Headers {
		i := slices.IndexFunc(e.Model.Fields, func(f *model.Field) bool { return f.Name == h.Field.Value })
		if i < 0 {
			if !e.Broken {
				var names []string
				for _, f := range e.Model.Fields {
					names = append(names, f.Name)
				}
				r.report.Add(h.Field.Pos, "E207", fmt.Sprintf("%s has no field %s", e.Is(), wording.Quote(h.Field.Value)), cmp.Or(schema.DidYouMean(h.Field.Value, names), "a header holds the text of a field of the event"))
			}
			e.Broken = true
			continue
		}
		f := e.Model.Fields[i]
		if !typeword.FitsKey(model.FieldType{Kind: f.Type.Kind, Notation: f.Type.Notation, Named: f.Type.Named, Elem: f.Type.Elem}) && f.Type.Kind != model.Bool {
			r.report.Add(h.Field.Pos, "E306", fmt.Sprintf("field %s of %s is %s, which a header cannot hold", wording.Quote(f.Name), e.Is(), typeword.Text(f.Type)), keyTypes)
			e.Broken = true
			continue
		}
		e.Model.Headers = append(e.Model.Headers, model.OutValue{Header: outHeader(r.report, o, h), Field: f})
	}
}

// outHeader is the header of a name, with its column.
func outHeader(report *schema.Diagnostics, o *draft.Outbox, h schema.OutHeader) *model.OutHeader {
	column := "header_" + strings.ToLower(strings.ReplaceAll(h.Name.Value, "-", "_"))
	for _, known := range o.Model.Headers {
		switch {
		case known.Name == h.Name.Value:
			return known
		case known.Column.Name == column:
			report.Add(h.Name.Pos, "E202", fmt.Sprintf("headers %s and %s both become column %s", wording.Quote(known.Name), wording.Quote(h.Name.Value), column), "choose one spelling")
		}
	}
	made := &model.OutHeader{Name: h.Name.Value, Column: &model.Column{Name: column, Type: model.ColType{Kind: model.ColText}, Nullable: true}}
	o.Model.Headers = append(o.Model.Headers, made)
	return made
}
