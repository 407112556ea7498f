package gocode

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// decoderOf writes what reads the records of a topic: the decoder's type, and the record key
// if it is a document.
func decoderOf(f *file, t *model.Topic) {
	doc := fmt.Sprintf("%s decodes the records of topic %q.", decoderType(t), t.Name)
	f.alias(doc, decoderType(t), strictjson("Scanner"))
	for _, p := range packings(t) {
		p.declare(f)
	}
	if t.RecordKey != nil && t.RecordKey.JSON {
		recordKeyType(f, t)
	}
}

// decoderSettings are what a decoder is told if it differs from what its zero value means.
func decoderSettings(t *model.Topic) []code {
	if t.Payload.AbsentMarker == "" {
		return nil
	}
	return []code{pair("AbsentMarker", lit(t.Payload.AbsentMarker))}
}

func decodeMethod(f *file, e *model.Event) error {
	d := decoder{recv: "e", typ: e.GoName, fields: e.Fields}
	params := []code{named("s", pointer(strictjson("Scanner"))), named("m", pointer(wire("Message")))}
	f.fn("", "e *"+e.GoName, "decode", params, nil, func(g *group) {
		d.body(g)
		sources(g, e)
	})
	return d.err
}

// readScalar reads a value that is neither optional nor an enum from src, a reader or a
// wire.Text.
func readScalar(src string, t model.FieldType) *expr {
	switch {
	case t.Notation == model.EpochDays:
		return call(src + ".EpochDays")
	case t.Notation == model.Array:
		return call(src + "." + kinds[t.Kind].read + "Array")
	case t.Notation == model.Unscaled:
		return call(src+".DecimalBytes", lit(t.Scale))
	case t.Notation == model.WithScale:
		return call(src + ".DecimalStruct")
	case t.AnyTime:
		return call(src+".AnyEpoch", qual("time", unitNames[t.Notation]))
	case t.Notation != model.Usual:
		return call(src+".Epoch", qual("time", unitNames[t.Notation]))
	}
	return call(src + "." + kinds[t.Kind].read)
}

var unitNames = map[model.Notation]string{
	model.EpochSeconds: "Second", model.EpochMillis: "Millisecond",
	model.EpochMicros: "Microsecond", model.EpochNanos: "Nanosecond",
}
