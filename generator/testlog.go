package generator

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/seedlog"
)

// logLines is the log as JSON, one record a line, behind a line that says who made it. Payloads
// stand in it as they are sent. Package idemtest reads it.
func (d testData) logLines() []byte {
	var out bytes.Buffer
	line := jsonLine{out: &out}
	line.text("comment", output.Marker)
	line.text("source", d.source)
	if d.digest != "" {
		line.text("sha256", d.digest)
	}
	line.end()
	for _, r := range d.log {
		d.logLine(&line, r)
	}
	return out.Bytes()
}

func (d testData) logLine(line *jsonLine, r testRecord) {
	if r.Topic != "" {
		line.text("topic", r.Topic)
	}
	line.text("event", r.Event)
	if !r.Keyed && d.keyed(r.Event) {
		line.raw("by_offset", []byte("true"))
	}
	if r.deadLetter != "" {
		line.text("dead_letter", r.deadLetter)
	}
	if r.Key != nil {
		line.text("key", string(r.Key))
	}
	if len(r.Headers) > 0 {
		headers := bytes.Buffer{}
		inner := jsonLine{out: &headers}
		for _, h := range r.Headers {
			if h.Value == nil {
				inner.raw(h.Name, []byte("null"))
				continue
			}
			inner.text(h.Name, string(h.Value))
		}
		line.raw("headers", append(headers.Bytes(), '}'))
	}
	if !r.Time.IsZero() {
		line.text("timestamp", r.Time.Format(time.RFC3339Nano))
	}
	if r.Result != nil {
		line.raw("result", r.Result)
	}
	if r.Error != "" {
		line.text("error", r.Error)
	}
	if r.Interrupted != "" {
		line.text("interrupted", r.Interrupted)
	}
	switch {
	case r.Value == nil:
	case json.Valid(r.Value) && !bytes.ContainsRune(r.Value, '\n'):
		line.raw("value", r.Value)
	default:
		line.text("text", string(r.Value))
	}
	line.end()
}

// keyed reports whether records of the event usually have an identity of their own.
func (d testData) keyed(event string) bool {
	for _, t := range d.topics {
		for _, e := range t.Events {
			if e.GoName == event {
				return e.Key != nil && !e.Key.Offset
			}
		}
	}
	return false
}

// jsonLine writes an object on a line, member by member.
type jsonLine struct {
	out     *bytes.Buffer
	members int
}

func (l *jsonLine) raw(name string, value []byte) {
	l.out.WriteByte("{,"[min(l.members, 1)])
	l.members++
	l.out.WriteString(seedlog.Quote(name))
	l.out.WriteByte(':')
	l.out.Write(value)
}

func (l *jsonLine) text(name, value string) {
	l.raw(name, nil)
	l.out.WriteString(seedlog.Quote(value))
}

func (l *jsonLine) end() {
	l.out.WriteString("}\n")
	l.members = 0
}
