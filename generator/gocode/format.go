package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

// format writes the code that reads the payload of records. A plan knows of it only that its
// reader implements wire.Decoder. Each format is a file here and a package of the runtime.
type format interface {
	// library is the package of the runtime.
	library() (path, name string)
	// reader is the type of the runtime that reads a record: s in what the others write.
	reader() *expr
	// encoding is the type of the runtime that unpacks values.
	encoding() *expr
	// strictness names what says which records are refused.
	strictness() string
	// event writes the statements that set the fields of e that come from the payload.
	event(g *group, e *model.Event) error
	// object writes the method by which an object type is read.
	object(f *file, t *model.Type)
	// recordKey writes the type of a record key that is a document, and how it is read.
	recordKey(f *file, t *model.Topic)
}

// formats are all that can be read.
var formats = []format{jsonFormat{}}

// formatOf is the format of a topic's payloads.
func formatOf(*model.Topic) format { return formats[0] }

// decoderOf writes what reads the records of a topic: the decoder's type, and the record key
// if it is a document.
func decoderOf(f *file, t *model.Topic) {
	doc := fmt.Sprintf("%s reads the records of topic %q.", decoderType(t), t.Name)
	f.decl(doc, text("type %s =", decoderType(t)).Add(formatOf(t).reader()))
	if t.Payload.Encoding != "" {
		doc := fmt.Sprintf("%s unpacks the values of topic %q.", encodingType(t), t.Name)
		f.decl(doc, text("type %s =", encodingType(t)).Add(formatOf(t).encoding()))
	}
	if t.RecordKey != nil && t.RecordKey.JSON {
		formatOf(t).recordKey(f, t)
	}
}

// decodeFunc is DecodeX, for handlers and tests: what it returns owns its memory.
func (p *pkg) decodeFunc(f *file, e *model.Event) {
	doc := fmt.Sprintf("Decode%s reads m; %s says how strictly.", e.GoName, formatOf(e.Topic).strictness())
	params := []code{named("m", idem("Message"))}
	f.fn(doc, "", "Decode"+e.GoName, params, text("(e %s, err error)", e.GoName), func(g *group) {
		if settings := p.decoderSettings(e.Topic); settings != nil {
			g.Add(text("s := %s", decoderType(e.Topic)).Values(settings...))
		} else {
			g.Add(text("var s %s", decoderType(e.Topic)))
		}
		read := "&m"
		if e.Topic.Payload.Encoding != "" {
			g.Add(text("encoding := %s{}", encodingType(e.Topic)))
			g.Add(text("opened, err := encoding.Open(&m)"))
			g.If(text("err != nil")).Block(text("return e, err"))
			read = "opened"
		}
		g.Add(text("s.Reset(%s)", read))
		g.Add(text("e.decode(&s, %s)", read))
		g.Return(text("e, s.Finish(%q)", e.GoName))
	})
}

// decoderSettings are what a decoder is told if it differs from what its zero value means.
func (p *pkg) decoderSettings(t *model.Topic) []code {
	settings := depthSetting(p.service)
	if marker := t.Payload.AbsentMarker; marker != "" {
		settings = append(settings, pair("AbsentMarker", lit(marker)))
	}
	return settings
}

// depthSetting is how deep a payload may nest.
func depthSetting(s *model.Service) (settings []code) {
	const usual = 64
	if d := s.Limits.MaxDepth; d != usual && d != 0 {
		settings = append(settings, pair("MaxDepth", lit(d)))
	}
	return settings
}

func decodeMethod(f *file, e *model.Event) (err error) {
	format := formatOf(e.Topic)
	params := []code{named("s", pointer(format.reader())), named("m", pointer(wire("Message")))}
	f.fn("", "e *"+e.GoName, "decode", params, nil, func(g *group) {
		err = format.event(g, e)
		sources(g, e)
	})
	return err
}

// readScalar reads a value that is neither optional nor an enum from src, a reader or a
// wire.Text.
func readScalar(src string, t model.FieldType) *expr {
	switch {
	case t.Notation == model.EpochDays:
		return call(src + ".EpochDays")
	case t.Notation != model.Usual:
		return call(src+".Epoch", qual("time", unitNames[t.Notation]))
	}
	return call(src + "." + kinds[t.Kind].read)
}

var unitNames = map[model.Notation]string{
	model.EpochSeconds: "Second", model.EpochMillis: "Millisecond",
	model.EpochMicros: "Microsecond", model.EpochNanos: "Nanosecond",
}
