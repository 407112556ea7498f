package oracle

import (
	"math"
	"strconv"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Faults outside the payload count after those inside it: headers, metadata and the
// record key in the order of the event's fields, then parts that disagree.
const (
	atFields = math.MaxInt32
	atAgree  = 2 * math.MaxInt32
)

// event is a record on its way to the tables.
type event struct {
	def    *model.Event
	record *Record
	values map[*model.Field]value
	result map[*model.Field]value // members of what its effect returned
}

// read decodes every field of the event.
func (in *Interpreter) read(def *model.Event, r *Record, p *payload) (*event, *fault) {
	e := &event{def: def, record: r, values: map[*model.Field]value{}}
	d := &decoder{depth: model.MaxDepth}
	if reads(def) {
		d.payload(p, def.Fields)
		d.marker = def.Topic.Payload.AbsentMarker
	}
	for i, f := range def.Fields {
		e.values[f] = d.source(def.Topic, f, r, p.root, atFields+i)
	}
	for i, f := range def.Fields {
		if f.SamePart == nil {
			continue
		}
		part := d.keyPart(f.SamePart, def.Topic.RecordKey, r, atFields+i)
		if first(d.faults) == nil && content(part) != content(e.values[f]) {
			d.fail(atAgree+i, fieldPath(f), "differs from the record key")
		}
	}
	if f := first(d.faults); f != nil {
		return e, f
	}
	return e, e.readResult()
}

// readResult reads what the event's effect returned: a JSON object of plain members.
func (e *event) readResult() *fault {
	if !e.def.Returns() || e.record.Result == nil {
		return nil
	}
	d := &decoder{depth: 1}
	p := &payload{record: &Record{Value: e.record.Result}}
	d.payload(p, e.def.Effect.Result.Fields)
	e.result = map[*model.Field]value{}
	for _, f := range e.def.Effect.Result.Fields {
		e.result[f] = d.member(f, p.root, "result")
	}
	f := first(d.faults)
	if f != nil {
		f.class = ClassEffect
	}
	return f
}

// payload starts on the record's value; fields are those it is read for.
func (d *decoder) payload(p *payload, fields []*model.Field) {
	p.parse(d.depth)
	d.src, d.why = p.record.Value, p.record.why
	if p.err != nil {
		at := *p.err
		at.path, at.at = shapeOf(fields).known(p.root, p.trail, at.at)
		d.faults = append(d.faults, &at)
	}
}

// reads reports whether the event has a field that is read from the payload's members.
func reads(def *model.Event) bool {
	for _, f := range def.Fields {
		if f.Source.Kind == model.FromPayload {
			return true
		}
	}
	return false
}

func (d *decoder) source(t *model.Topic, f *model.Field, r *Record, root *node, at int) value {
	switch f.Source.Kind {
	case model.FromPayload:
		if root == nil {
			return nil // the syntax error is the fault
		}
		return d.member(f, root, "")
	case model.FromHeader:
		return d.header(f, r, at)
	case model.FromRecordKey:
		return d.keyPart(f.Source.Part, t.RecordKey, r, at)
	}
	return d.metadata(f, r, at)
}

func fieldPath(f *model.Field) string {
	switch f.Source.Kind {
	case model.FromHeader:
		return "header " + f.Source.Header
	case model.FromRecord:
		return "record " + f.Source.Record
	case model.FromRecordKey:
		return join("record key", f.Source.Part.Path...)
	}
	return join("", f.Source.Path...)
}

func (d *decoder) header(f *model.Field, r *Record, at int) value {
	path := fieldPath(f)
	h, n := findHeader(r, f.Source.Header)
	switch {
	case n > 1:
		d.fail(at, path, "appears "+strconv.Itoa(n)+" times")
	case n == 0 && f.Default != nil:
		return d.text(asDefault(f.Type), f.Default.Text, at, path)
	case n == 0 && !f.Type.Optional:
		d.fail(at, path, whyMissing)
	case n == 0:
	case h.Value == nil && !f.Type.Optional:
		d.fail(at, path, whyNull)
	case h.Value != nil && f.Source.Binary:
		return d.binary(f.Type, h.Value, at, path)
	case h.Value != nil:
		return d.text(f.Type, string(h.Value), at, path)
	}
	return nil
}

func findHeader(r *Record, name string) (h Header, n int) {
	for _, o := range r.Headers {
		if o.Name == name {
			h, n = o, n+1
		}
	}
	return h, n
}
