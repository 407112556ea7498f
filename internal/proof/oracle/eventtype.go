package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// typeText reads the texts that tell events apart, joined by /. A record without the first one
// does not decode: it is not an unknown type, which the spec may skip.
func (in *Interpreter) typeText(t *model.Topic, r *Record, p *payload) (string, *fault) {
	var texts []string
	for i, by := range t.EventType {
		text, f := in.oneText(t, textAt(by, i > 0), r, p)
		if f != nil {
			return "", f
		}
		if i == 0 || text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "/"), nil
}

// oneText reads one of these texts; "" where one that is optional is not there.
func (in *Interpreter) oneText(t *model.Topic, f *model.Field, r *Record, p *payload) (string, *fault) {
	d := &decoder{depth: model.MaxDepth}
	if f.Source.Kind == model.FromPayload {
		d.payload(p, []*model.Field{f})
		d.marker = t.Payload.AbsentMarker
	}
	if f.Type.Optional && p.root != nil && f.Source.Kind == model.FromPayload {
		if n, path := d.find(p.root, f.Source.Path, ""); n != nil && n.kind == numberNode {
			if strings.Trim(n.text, "0123456789") != "" {
				d.fail(n.start, path, "must be a string or a whole number")
			}
			return n.text, first(d.faults)
		}
	}
	text, _ := d.source(t, f, r, p.root, atFields).(string)
	return text, first(d.faults)
}
