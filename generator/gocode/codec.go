package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
)

// A codec is Go code of the service that reads values of a type. Decode methods call it through
// their decoder, which the plan gives what the service passed to NewConsumer.

const codecsDoc = "Codecs is implemented by the service: one method per type whose values Go code reads.\n\n" +
	"raw is the text of a JSON string, of any other value the JSON as it is written, and of a header its bytes. " +
	"It is a copy. A record is read any number of times, and by several goroutines at once. So a method is a function of " +
	"raw alone, without I/O: what it needs, such as keys, is there before the consumer runs. If it returns an error or " +
	"panics, the record becomes a dead letter that names the field and nothing else. idem.ErrNotImplemented halts the " +
	"partition instead."

// codecsInterface writes Codecs, if events use any.
func codecsInterface(f *file, s *model.Service) {
	if len(s.Codecs) == 0 {
		return
	}
	f.interfaceType(codecsDoc, "Codecs", func(g *group) {
		for _, c := range s.Codecs {
			comment(g, docOf(c.Doc, fmt.Sprintf("%s reads a value of type %q.", c.Method, c.Type)))
			g.Add(codecMethod(c))
		}
	})
}

// codecMethod is the signature of a codec.
func codecMethod(c *model.Codec) *expr {
	return call(c.Method, text("raw []byte")).Params(bareType(model.FieldType{Kind: c.Kind}), text("error"))
}

// codecOf is the method by which values of a type are read, and the type's name.
func codecOf(t model.FieldType) []code {
	return []code{lit(t.Codec.Type), text("Codecs." + t.Codec.Method)}
}

// topicCodes reports whether events of a topic use codecs.
func topicCodes(t *model.Topic) bool {
	for _, e := range t.Events {
		if e.HoldsCodec() {
			return true
		}
	}
	return false
}

// handledCodes reports whether events with a handler, which each have a decoder, use codecs.
func handledCodes(t *model.Topic) bool {
	for _, e := range t.Events {
		if e.HasCode() && e.HoldsCodec() {
			return true
		}
	}
	return false
}

// textCodecs writes the codecs of generated tests, whose records hold values as text.
func textCodecs(f *file, s *model.Service) {
	if len(s.Codecs) == 0 {
		return
	}
	f.decl("textCodecs read a value from its text, as headers are read: so the records of tests and cases need no secrets. The service's own codecs have tests of their own.", text("type textCodecs struct{}"))
	for _, c := range s.Codecs {
		read := code(wire("Text." + kinds[c.Kind].read))
		if c.Kind == model.JSON { // what a codec makes is checked
			read = wire("Text.Raw")
		}
		if c.Notation != model.Usual {
			t := model.FieldType{Kind: c.Kind, Notation: c.Notation}
			read = oneLine([]code{named("t", wire("Text"))}, bareType(t), readScalar("t", t))
		}
		f.decl("", text("func (textCodecs)").Add(codecMethod(c)).Add(text("{ return")).Add(wire("ReadText").Call(text("raw"), read)).Add(text("}")))
	}
}
