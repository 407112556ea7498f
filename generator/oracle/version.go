package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// versionText reads the text that tells events of one type apart: a text, or in the payload a
// whole number by its digits; "" where there is none.
func (in *Interpreter) versionText(t *model.Topic, by *model.Discriminator, r *Record, p *payload) (string, *fault) {
	f := textAt(by)
	f.Type.Optional = true
	d := &decoder{depth: in.service.Limits.MaxDepth}
	if f.Source.Kind != model.FromPayload {
		text, _ := d.source(t, f, r, nil, atFields).(string)
		return text, first(d.faults)
	}
	d.marker = t.Payload.AbsentMarker
	d.payload(p, []*model.Field{f})
	if p.root == nil {
		return "", first(d.faults)
	}
	n, path := d.find(p.root, by.Path, "")
	if n != nil && n.kind == numberNode {
		if strings.Trim(n.text, "0123456789") != "" {
			d.fail(n.start, path, "must be a string or a whole number")
		}
		return n.text, first(d.faults)
	}
	text, _ := d.field(f, n, path, p.root).(string)
	return text, first(d.faults)
}
