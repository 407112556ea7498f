package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// topic finds the entry that a topic belongs to; nil if none does.
func (in *Interpreter) topic(name string) *model.Topic {
	if t := in.topics[name]; t != nil {
		return t
	}
	for _, t := range in.service.Topics {
		if _, ok := segments(t, name); ok {
			return t
		}
	}
	return nil
}

// segments are the parts of a topic's name by the names that the entry's pattern gives them, and
// whether it has the pattern at all. Two underscores begin the names of Kafka's own topics.
func segments(t *model.Topic, name string) (map[string]string, bool) {
	if len(t.Pattern) == 0 {
		return nil, false
	}
	named := map[string]string{}
	rest, more := name, true
	for i, p := range t.Pattern {
		if !more {
			return nil, false
		}
		var part string
		part, rest, more = strings.Cut(rest, ".")
		switch {
		case p.Segment == "" && part == p.Literal:
		case p.Segment == "" || part == "" || i == 0 && strings.HasPrefix(part, "__"):
			return nil, false
		default:
			named[p.Segment] = part
		}
	}
	return named, !more
}

// segment is the value of a field that is a part of the topic's name.
func (d *decoder) segment(t *model.Topic, f *model.Field, r *Record, at int) value {
	parts, _ := segments(t, r.Topic)
	return d.text(f.Type, parts[f.Source.Segment], at, fieldPath(f))
}

// textAt is a field for a text that tells events apart.
func textAt(by *model.Discriminator) *model.Field {
	f := &model.Field{Type: model.FieldType{Kind: model.String}}
	switch {
	case by.Header != "":
		f.Source = model.Source{Kind: model.FromHeader, Header: by.Header}
	case by.Segment != "":
		f.Source = model.Source{Kind: model.FromSegment, Segment: by.Segment}
	default:
		f.Source = model.Source{Kind: model.FromPayload, Path: by.Path}
	}
	return f
}
