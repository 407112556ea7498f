package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// ExampleError says what is wrong with one record of the examples file.
type ExampleError struct {
	Record int    // from 1; 0 if the file as a whole cannot be read
	Event  string // name of the event; empty if none was found
	Path   string // see Outcome
	Reason string
	// Unknown is the topic that the spec does not have, or the type that the topic does not have,
	// and Known are those that there are.
	Unknown string
	Known   []string
}

func (e ExampleError) Error() string {
	if e.Record == 0 {
		return "the file is not a JSON array of records: " + e.Reason
	}
	where := e.Event
	if e.Path != "" {
		where += "/" + e.Path
	}
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("record %d does not decode: %s%s", e.Record, where, e.Reason)
}

// example is one record of the examples file.
type example struct {
	Topic     string             `json:"topic"`
	Key       json.RawMessage    `json:"key"` // a string is the key's text; an object is a JSON key
	Headers   map[string]*string `json:"headers"`
	Timestamp json.RawMessage    `json:"timestamp"` // RFC 3339, or milliseconds since 1970
	Value     json.RawMessage    `json:"value"`     // null or absent: a record without value
}

// CheckExamples reads the examples file of a spec, a JSON array of records {topic, key,
// headers, timestamp, value}, and returns why records do not decode, at most one reason
// per record. Records that the spec ignores are fine; rows are not looked at.
func CheckExamples(s *model.Service, data []byte) []ExampleError {
	if _, err := parseJSON(data, 1000); err != nil {
		line := 1 + bytes.Count(data[:min(err.at, len(data))], []byte("\n"))
		return []ExampleError{{Reason: fmt.Sprintf("line %d: %s", line, err.detail)}}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var raws []json.RawMessage
	if err := dec.Decode(&raws); err != nil {
		return []ExampleError{{Reason: "it holds something else"}}
	}
	in := New(s)
	var bad []ExampleError
	for i, raw := range raws {
		if e := in.checkExample(raw); e != nil {
			e.Record = i + 1
			bad = append(bad, *e)
		}
	}
	return bad
}

func (in *Interpreter) checkExample(raw json.RawMessage) *ExampleError {
	r, reason := readExample(raw)
	if reason != "" {
		return &ExampleError{Reason: reason}
	}
	t := in.topic(r.Topic)
	if t == nil {
		e := &ExampleError{Reason: "the spec has no topic " + strconv.Quote(r.Topic), Unknown: r.Topic}
		for _, t := range in.service.Topics {
			e.Known = append(e.Known, t.Kafka...)
		}
		return e
	}
	if k := t.RecordKey; k != nil && k.Encoding == "binary" && r.Key != nil {
		r.Key = asBinary(k.Parts[0].Type.Kind, r.Key)
	}
	for i, h := range r.Headers {
		r.Headers[i].Value = asBinary(t.BinaryHeader(h.Name), h.Value)
	}
	def, out := in.Read(*r)
	switch {
	case out.Kind == Applied || out.Kind == Ignored || out.Class == ClassFit:
		return nil
	case def == nil:
		return &ExampleError{Event: r.Topic, Path: out.Path, Reason: out.Detail, Unknown: out.Type, Known: t.AllTypes()}
	}
	return &ExampleError{Event: def.Name, Path: out.Path, Reason: out.Detail}
}

func readExample(raw json.RawMessage) (r *Record, reason string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var e example
	if err := dec.Decode(&e); err != nil {
		return nil, "it must be an object with topic, key, headers (texts), timestamp and value"
	}
	r = &Record{Topic: e.Topic, Plain: true}
	if !absent(e.Value) {
		r.Value = e.Value
	}
	if !absent(e.Key) {
		r.Key = e.Key
		var text string
		if json.Unmarshal(e.Key, &text) == nil {
			r.Key = []byte(text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		h := Header{Name: name}
		if v := e.Headers[name]; v != nil {
			h.Value = []byte(*v)
		}
		r.Headers = append(r.Headers, h)
	}
	r.Time, reason = readTimestamp(e.Timestamp)
	return r, reason
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func readTimestamp(raw json.RawMessage) (time.Time, string) {
	if absent(raw) {
		return time.Time{}, ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if at, err := parseInstant(text); err == nil {
			return at.time(), ""
		}
	}
	if ms, err := parseInteger(string(raw), 64); err == nil {
		return time.UnixMilli(ms).UTC(), ""
	}
	return time.Time{}, "timestamp must be RFC 3339 or milliseconds since 1970"
}
