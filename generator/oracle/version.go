package oracle

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// versionText reads the text that tells events of one type apart: a text, or in the payload a
// whole number by its digits; "" where there is none.
func (in *Interpreter) versionText(by *model.Discriminator, marker string, r *Record, p *payload) (string, *fault) {
	f := &model.Field{Type: model.FieldType{Kind: model.String, Optional: true}, Source: model.Source{Kind: model.FromHeader, Header: by.Header}}
	d := &decoder{depth: in.service.Limits.MaxDepth}
	if by.Header != "" {
		text, _ := d.header(f, r, atFields).(string)
		return text, first(d.faults)
	}
	d.marker = marker
	f.Source = model.Source{Kind: model.FromPayload, Path: by.Path}
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
