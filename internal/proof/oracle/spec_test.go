package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// The helpers below build small checked specs by hand.

func typ(k model.Kind) model.FieldType { return model.FieldType{Kind: k} }

func in(k model.Kind, n model.Notation) model.FieldType { return model.FieldType{Kind: k, Notation: n} }

func opt(k model.Kind) model.FieldType { return model.FieldType{Kind: k, Optional: true} }

func listOf(t model.FieldType) model.FieldType { return model.FieldType{Kind: model.List, Elem: &t} }

func field(name string, t model.FieldType) *model.Field { return at(name, t, name) }

func at(name string, t model.FieldType, path ...string) *model.Field {
	return &model.Field{Name: name, Type: t, Source: model.Source{Kind: model.FromPayload, Path: path}}
}

func header(name string, t model.FieldType, header string) *model.Field {
	return &model.Field{Name: name, Type: t, Source: model.Source{Kind: model.FromHeader, Header: header}}
}

func column(name string, k model.ColKind) *model.Column {
	return &model.Column{Name: name, Type: model.ColType{Kind: k}}
}

func nullable(c *model.Column) *model.Column {
	c.Nullable = true
	return c
}

func newTable(name string, key int, columns ...*model.Column) *model.Table {
	return &model.Table{Name: name, Columns: columns, PrimaryKey: columns[:key]}
}

func from(f *model.Field) model.Value { return model.Value{Kind: model.FieldValue, Field: f} }

func constOf(text string) model.Value {
	return model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: text}}
}

// byName assigns every column that has a value among fields or more.
func byName(t *model.Table, fields []*model.Field, more map[string]model.Value) []model.Assign {
	var out []model.Assign
	for _, c := range t.Columns {
		if v, ok := more[c.Name]; ok {
			out = append(out, model.Assign{Column: c, Value: v})
			continue
		}
		for _, f := range fields {
			if f.Name == c.Name {
				out = append(out, model.Assign{Column: c, Value: from(f)})
			}
		}
	}
	return out
}

func newEvent(name string, fields []*model.Field, steps ...*model.Step) *model.Event {
	e := &model.Event{Name: name, GoName: name, Types: []string{name}, Fields: fields, Steps: steps,
		Key: &model.IdempotencyKey{Offset: true}}
	return e
}

// service completes a spec of one topic "t" whose events are told apart by a header.
func service(tables []*model.Table, events ...*model.Event) *model.Service {
	t := &model.Topic{Name: "t", Kafka: []string{"t"}, Events: events}
	if len(events) > 1 {
		t.EventType = []model.Discriminator{{Header: "type"}}
	}
	for _, e := range events {
		e.Topic = t
		e.OnFailure.GiveUp = "dead_letter"
		for _, s := range e.Steps {
			s.Event = e
		}
	}
	t.OnFailure.GiveUp = "dead_letter"
	return &model.Service{Tables: tables, Topics: []*model.Topic{t}, Limits: model.Limits{MaxPayload: 1 << 20}}
}

// feed applies records to one partition, offsets from 0.
type feed struct {
	*Interpreter
	t    *testing.T
	next int64
}

func newFeed(t *testing.T, s *model.Service) *feed { return &feed{Interpreter: New(s), t: t} }

// send applies an event of the given type and wants an outcome such as "applied" or
// "dead letter database".
func (f *feed) send(event, payload, want string, headers ...string) {
	f.t.Helper()
	r := Record{Topic: "t", Offset: f.next, Time: time.UnixMilli(1_700_000_000_000), Value: []byte(payload),
		Headers: []Header{{"type", []byte(event)}}}
	for _, h := range headers {
		name, v, _ := strings.Cut(h, "=")
		r.Headers = append(r.Headers, Header{name, []byte(v)})
	}
	f.apply(r, want)
}

func (f *feed) apply(r Record, want string) {
	f.t.Helper()
	r.Offset = f.next
	f.next++
	out := f.Apply(r)
	got := strings.TrimSpace(out.Kind.String() + " " + out.Class + " " + out.Path)
	if got != want {
		f.t.Errorf("offset %d %s: %q (%s), want %q", r.Offset, r.Value, got, out.Detail, want)
	}
}

// rows wants the lines of a table.
func (f *feed) rows(table string, want ...string) {
	f.t.Helper()
	if got := strings.Join(f.Rows(table), "\n"); got != strings.Join(want, "\n") {
		f.t.Errorf("table %s\n%s\nwant\n%s", table, got, strings.Join(want, "\n"))
	}
}
