package cases

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// record reads event number n of the case. A record that would become a dead letter before it
// reaches the database is refused, unless then says so.
func (r *reader) record(n int, e *syntax.CaseEvent) (out seedlog.Record) {
	t := r.topic(*e.Topic)
	if t == nil {
		return out
	}
	before := r.report.Errors()
	out.Topic = e.Topic.Value
	for _, h := range e.Headers {
		header := seedlog.Header{Name: h.Name.Value}
		if h.Value != nil {
			header.Value = []byte(h.Value.Value)
		}
		out.Headers = append(out.Headers, header)
	}
	out.Key = r.key(t, e.Key)
	if e.Timestamp != nil {
		at, err := time.Parse(time.RFC3339Nano, e.Timestamp.Value)
		if err != nil {
			r.report.Add(e.Timestamp.Pos, "E108", "timestamp is not a time: "+wording.Quote(e.Timestamp.Value), "write RFC 3339 with a zone: 2026-01-31T12:00:00Z")
		}
		out.Time = at.UTC()
	}
	out.Value = r.payload(t, &out, e)
	event, found := r.in.Read(asRead(t, &out))
	if event != nil {
		out.Event = event.GoName
		out.Keyed = found.Key != ""
	}
	if r.report.Errors() > before {
		return out
	}
	r.returned(n, e, event, &out)
	if event != nil {
		found = r.outcome(t, event, &out)
	}
	if r.report.Errors() == before {
		r.refused(n, t, e, r.packed(t, e, &out, found))
		r.alike(n, e, &out)
	}
	return out
}

// asRead is the record as the oracle takes it: as it is sent to its topic.
func asRead(t *model.Topic, r *seedlog.Record) oracle.Record {
	at := r.Time
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	out := oracle.Record{Topic: r.Topic, Time: at, Result: r.Result}
	out.Key, out.Value = seedlog.Packed(t, r.Key, r.Value)
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, oracle.Header{Name: h.Name, Value: seedlog.PackedHeader(t, h.Name, h.Value)})
	}
	return out
}

// packed is what becomes of a record in the format of its topic, in words of its value: one that
// cannot be written is sent as it is, and what Avro requires and the value lacks would be made up.
func (r *reader) packed(t *model.Topic, e *syntax.CaseEvent, out *seedlog.Record, found oracle.Outcome) oracle.Outcome {
	m := t.Payload.Messages
	if m == nil || m.Packing == nil || out.Value == nil || e.Text != nil {
		return found
	}
	if _, err := m.Packing.Pack(out.Value); err != nil {
		found.Detail = "the value does not match " + m.File + ": " + err.Error()
		return found
	}
	if !m.Avro || found.Kind == oracle.DeadLetter {
		return found
	}
	record := asRead(t, out)
	record.Value, record.Plain = out.Value, true
	if event, as := r.in.Read(record); event != nil && as.Class == oracle.ClassDecode {
		return as
	}
	return found
}

// payload writes the record's value. Which event it is, the headers tell, or the value as it
// looks: then it is written again by the fields of that event.
func (r *reader) payload(t *model.Topic, out *seedlog.Record, e *syntax.CaseEvent) []byte {
	switch {
	case e.Text != nil:
		return []byte(e.Text.Value)
	case e.Value.Null():
		return nil
	}
	looks := *out
	looks.Value = []byte(untyped(e.Value))
	event, _ := r.in.Read(asRead(t, &looks))
	if event == nil {
		return looks.Value
	}
	raw := func(f *model.Field) bool {
		return f.Source.Kind == model.FromRecord && f.Source.Record == "value" && f.Type.Kind != model.JSON
	}
	if e.Value.Kind == syntax.ScalarNode && slices.ContainsFunc(event.Fields, raw) {
		return []byte(e.Value.Text)
	}
	return []byte(r.json(e.Value, payloadForm(event)))
}

// key is the record key: of JSON by its parts, else the text.
func (r *reader) key(t *model.Topic, n *syntax.Node) []byte {
	switch {
	case n == nil || n.Null():
		return nil
	case n.Kind == syntax.ScalarNode && t.RecordKey != nil && t.RecordKey.JSON && len(t.RecordKey.Parts[0].Path) == 0:
		return []byte(r.json(n, keyForm(t.RecordKey)))
	case n.Kind == syntax.ScalarNode:
		return []byte(n.Text)
	case t.RecordKey == nil || !t.RecordKey.JSON:
		r.report.Add(n.Pos, "E106", "key must be a string: the record key of topic "+wording.Quote(t.Name)+" is not a JSON object", "")
		return nil
	}
	return []byte(r.json(n, keyForm(t.RecordKey)))
}

// refused reports a record that no handler and no table will ever see.
func (r *reader) refused(n int, t *model.Topic, e *syntax.CaseEvent, found oracle.Outcome) {
	before := r.report.Errors()
	defer func() {
		if r.report.Errors() > before {
			r.hide(t, e)
		}
	}()
	otherwise := "fix the event, or"
	if near := syntax.DidYouMean(found.Type, t.AllTypes()); near != "" {
		otherwise = near + " If not,"
	}
	why := found.Class + ": " + strings.TrimPrefix(found.Path+": "+found.Detail, ": ")
	switch {
	case found.Class == oracle.ClassEffect && e.Result != nil:
		r.report.Add(place(t, e, found), "E156", fmt.Sprintf("event %d cannot return this: %s", n, strings.TrimPrefix(why, found.Class+": ")), "the result is what the Go method returns, as JSON")
	case found.Kind == oracle.Stop:
		r.report.Add(place(t, e, found), "E153", fmt.Sprintf("event %d would halt its partition: %s", n, why), "a case cannot contain it: nothing is applied after it")
	case found.Kind == oracle.DeadLetter && !slices.ContainsFunc(r.spec.DeadLetters, func(c syntax.ClassCount) bool { return c.Class == found.Class }):
		r.report.Add(place(t, e, found), "E153", fmt.Sprintf("event %d would become a dead letter: %s", n, why), fmt.Sprintf("%s expect it: then: {dead_letters: {%s: 1}}", otherwise, found.Class))
	}
}
