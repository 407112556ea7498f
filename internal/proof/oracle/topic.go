package oracle

import "github.com/idemgen/idemgen/internal/gen/model"

// topic finds the entry that a topic belongs to; nil if none does.
func (in *Interpreter) topic(name string) *model.Topic { return in.topics[name] }

// textAt is a field for a text that tells events apart.
func textAt(by model.Discriminator, optional bool) *model.Field {
	f := &model.Field{Type: model.FieldType{Kind: model.String, Optional: optional}}
	switch {
	case by.Header != "":
		f.Source = model.Source{Kind: model.FromHeader, Header: by.Header}
	default:
		f.Source = model.Source{Kind: model.FromPayload, Path: by.Path}
	}
	return f
}
