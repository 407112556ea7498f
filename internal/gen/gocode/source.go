package gocode

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/internal/gen/model"
)

var errOptionalDefault = errors.New("an optional field has a default")

// sources reads what stands outside the payload: headers and metadata in the order of the
// fields, then the record key.
func sources(g *group, e *model.Event) {
	for _, f := range e.Fields {
		dst := "e." + f.GoName
		switch f.Source.Kind {
		case model.FromHeader:
			header(g, dst, f)
		case model.FromRecord:
			g.Add(text(dst + " =").Add(metadata(f)))
		}
	}
	recordKey(g, e)
}

// recordKey sets and compares what stands in the record key.
func recordKey(g *group, e *model.Event) {
	parts := keyParts(e)
	if len(parts) == 0 {
		return
	}
	part := func(p *model.KeyPart) code { return textScalar("s.RecordKey(m)", p.Type) }
	if e.Topic.RecordKey.Encoding == "binary" {
		part = func(p *model.KeyPart) code { return binaryScalar("s.RecordKey(m)", p.Type.Kind) }
	}
	if e.Topic.RecordKey.JSON {
		g.Var().Id("k").Id(keyType(e.Topic))
		g.Add(text("k.%s(s, m)", keyMethod(e)))
		part = func(p *model.KeyPart) code { return text("k." + p.GoName) }
	}
	for _, f := range e.Fields {
		if f.Source.Kind == model.FromRecordKey {
			g.Add(text("e.%s =", f.GoName).Add(part(f.Source.Part)))
		}
	}
	for _, f := range e.Fields {
		if f.SamePart != nil {
			same(g, f, part(f.SamePart))
		}
	}
}

// binaryReads are the methods that read a binary record key or header.
var binaryReads = map[model.Kind]string{model.Int32: "BinaryInt32", model.Int64: "BinaryInt64", model.UUID: "BinaryUUID", model.Bytes: "Raw"}

// keyParts are the parts of the record key that an event reads, in the key's order.
func keyParts(e *model.Event) []*model.KeyPart {
	if e.Topic.RecordKey == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Topic.RecordKey.Parts), func(p *model.KeyPart) bool {
		return !slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return f.SamePart == p || f.Source.Part == p })
	})
}

// keyMethod names the method that reads the parts of the record key that an event needs: one
// that lacks the others must not be refused. Where the names of two sets of parts make one name,
// the later set has a number.
func keyMethod(of *model.Event) (name string) {
	named := map[string][]*model.KeyPart{}
	for _, e := range of.Topic.Events {
		parts := keyParts(e)
		base := "decode"
		if len(parts) < len(e.Topic.RecordKey.Parts) {
			for _, p := range parts {
				base += p.GoName
			}
		}
		name = base
		for n := 2; named[name] != nil && !slices.Equal(named[name], parts); n++ {
			name = base + strconv.Itoa(n)
		}
		if e == of {
			break
		}
		named[name] = parts
	}
	return name
}

// same compares a field with the part of the record key that has its name.
func same(g *group, f *model.Field, part code) {
	field := "e." + f.GoName
	var equal *expr
	switch f.Type.Kind {
	case model.Timestamp, model.Decimal:
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
		g.Add(text(dst + " =").Add(headerScalar(fmt.Sprintf("s.Header(m, %q)", f.Source.Header), f)))
		return
	}
	method := "OptHeader"
	if f.Default != nil {
		method = "DefaultHeader"
	}
	g.If(text("h, ok := s.%s(m, %q)", method, f.Source.Header), text("ok")).Block(text(dst + " =").Add(headerScalar("h", f)))
}

// headerScalar reads a header from src, a wire.Text.
func headerScalar(src string, f *model.Field) *expr {
	if !f.Source.Binary {
		return textScalar(src, f.Type)
	}
	read := binaryScalar(src, f.Type.Kind)
	if f.Type.Optional && !nilable(f.Type) {
		return wire("Keep").Call(text("&s.Reader"), read)
	}
	return read
}

// binaryScalar reads bytes from src, a wire.Text.
func binaryScalar(src string, kind model.Kind) *expr { return call(src + "." + binaryReads[kind]) }

// metadata is how a piece of what Kafka knows about the record is read. Every record has it.
func metadata(f *model.Field) *expr {
	switch f.Source.Record {
	case "topic":
		return text("m.Topic")
	case "partition":
		return text("m.Partition")
	case "offset":
		return text("m.Offset")
	case "timestamp":
		return text("s.RecordTime(m)")
	}
	src := "s.RecordKey(m)"
	if f.Source.Record == "value" {
		src = "s.RecordValue(m)"
	}
	if f.Type.Kind == model.Bytes { // as they are; everything else is text
		return text(src + ".Raw()")
	}
	return textScalar(src, f.Type)
}

// textScalar reads a value from src, a wire.Text.
func textScalar(src string, t model.FieldType) *expr {
	switch {
	case t.Kind == model.Enum && t.Optional:
		return wire("OptEnumText").Call(text(src), text(valuesVar(t.Named)))
	case t.Kind == model.Enum:
		return wire("EnumText").Call(text(src), text(valuesVar(t.Named)))
	case t.Kind == model.JSON:
		return jsonText(src)
	case t.Optional && !nilable(t):
		return wire("Keep").Call(text("&s.Reader"), readScalar(src, t))
	}
	return readScalar(src, t)
}
