package gocode

import (
	"errors"
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

var errOptionalDefault = errors.New("an optional field has a default")

// readsRecord reports whether decoding needs more of the record than its payload.
func readsRecord(e *model.Event) bool {
	for _, f := range e.Fields {
		if f.Source.Kind != model.FromPayload || f.SamePart != nil {
			return true
		}
	}
	return false
}

// sources reads what stands outside the payload: headers and metadata in the order of the
// fields, then the record key.
func sources(g *group, e *model.Event) {
	for _, f := range e.Fields {
		dst := "e." + f.GoName
		switch f.Source.Kind {
		case model.FromHeader:
			header(g, dst, f)
		case model.FromRecord:
			metadata(g, dst, f)
		}
	}
	if e.Topic.RecordKey == nil {
		return
	}
	if e.Topic.RecordKey.JSON {
		keyDocument(g, e)
		return
	}
	for _, f := range e.Fields {
		if f.Source.Kind == model.FromRecordKey {
			g.Add(text("e.%s =", f.GoName).Add(scan("s.RecordKey(m)", f.Type)))
		}
	}
	for _, f := range e.Fields {
		if f.SamePart != nil {
			same(g, f, scan("s.RecordKey(m)", f.SamePart.Type))
		}
	}
}

// keyDocument reads a record key that is a JSON object.
func keyDocument(g *group, e *model.Event) {
	key := decoder{recv: "e", seen: "parts", fields: e.Fields}
	root := key.tree(func(f *model.Field) (path []string, required, ok bool) {
		part := f.SamePart
		if f.Source.Kind == model.FromRecordKey {
			part = f.Source.Part
		}
		if part == nil {
			return nil, false, false
		}
		return part.Path, !part.Type.Optional, true
	})
	if len(key.names) == 0 {
		return
	}
	g.Add(call("s.NextKey", text("m")))
	key.document(g, root, func(g *group, f *model.Field) {
		if f.SamePart != nil {
			same(g, f, scan("s", f.SamePart.Type))
			return
		}
		g.Add(text("e.%s =", f.GoName).Add(scan("s", f.Type)))
	})
}

// same compares a field with the part of the record key that has its name.
func same(g *group, f *model.Field, part code) {
	field := "e." + f.GoName
	var equal *expr
	switch f.Type.Kind {
	case model.Timestamp, model.EpochS, model.EpochMS, model.EpochUS, model.EpochNS:
		equal = text(field + ".Equal").Call(part)
	case model.Bytes:
		equal = text("string(%s) ==", field).Add(text("string").Call(part))
	default:
		star := ""
		if f.Type.Optional {
			star = "*"
		}
		equal = text(star + field + " ==").Add(part)
	}
	if f.Type.Optional {
		equal = text(field + " != nil &&").Add(equal)
	}
	g.Add(call("s.Same", lit(fieldPath(f)), equal))
}

func header(g *group, dst string, f *model.Field) {
	if f.Default == nil && !f.Type.Optional {
		g.Add(text(dst + " =").Add(scan(fmt.Sprintf("s.Header(m, %q)", f.Source.Header), f.Type)))
		return
	}
	method := "OptHeader"
	if f.Default != nil {
		method = "DefaultHeader"
	}
	g.If(text("h, ok := s.%s(m, %q)", method, f.Source.Header), text("ok")).Block(text(dst + " =").Add(scan("h", f.Type)))
}

// metadata reads what Kafka knows about the record.
func metadata(g *group, dst string, f *model.Field) {
	value, present := recordValue(f)
	absent := present != "" && (f.Type.Optional || f.Default != nil)
	set := func(g *group) { g.Add(text(dst + " =").Add(value)) }
	if f.Type.Optional && !nilable(f.Type) && f.Source.Record != "key" && f.Source.Record != "value" {
		set = func(g *group) {
			g.Add(text("v :=").Add(value))
			g.Add(text(dst + " = &v"))
		}
		if !absent {
			g.BlockFunc(set)
			return
		}
	}
	if absent {
		g.If(text(present)).BlockFunc(set)
		return
	}
	set(g)
}

// recordValue returns how a piece of metadata is read, and the condition under which it
// is there; "" if it always is.
func recordValue(f *model.Field) (value *expr, present string) {
	switch f.Source.Record {
	case "topic":
		return text("m.Topic"), ""
	case "partition":
		return text("m.Partition"), ""
	case "offset":
		return text("m.Offset"), ""
	case "timestamp":
		if f.Type.Kind == model.Int64 {
			return text("s.RecordTime(m).UnixMilli()"), "!m.Time.IsZero()"
		}
		return text("s.RecordTime(m)"), "!m.Time.IsZero()"
	}
	src, present := "s.RecordKey(m)", "m.Key != nil"
	if f.Source.Record == "value" {
		src, present = "s.RecordValue(m)", "m.Value != nil"
	}
	if f.Type.Kind == model.Bytes { // as they are; everything else is text
		return text(src + ".Raw()"), present
	}
	return scan(src, f.Type), present
}
