package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

func resolveRecordKey(report *syntax.Diagnostics, types *draft.Types, topic *syntax.Topic) *draft.RecordKey {
	spec, format := topic.RecordKey, topic.KeyFormat
	if spec == nil {
		if format != nil && !topic.Broken {
			report.Add(format.Key, "E413", "record_key_format needs record_key on topic "+wording.Quote(topic.Name.Value), "for example record_key: {order_id: int64}")
		}
		return nil
	}
	k := &draft.RecordKey{Model: &model.RecordKey{}, Known: !spec.Broken}
	if format != nil {
		k.Model.Packed = packed(&format.Packing)
		k.Known = k.Known && !format.Broken
	}
	for _, p := range spec.Parts {
		info := draft.KeyPart{Spec: p}
		if ft, ok := fieldType(report, types, p.Type); ok && !p.Broken && checkPart(report, p, ft) && checkPlace(report, k.Model, len(spec.Parts), p, ft) {
			info.Part = &model.KeyPart{Name: p.Name.Value, GoName: goname.Of(p.Name.Value), Doc: docOf(p.Doc), Type: ft}
			if p.Path != nil {
				info.Part.Path = slices.Clone(p.Path.Members)
				k.Model.JSON = true
			}
			info.Field = &model.Field{Name: info.Part.Name, GoName: info.Part.GoName, Doc: info.Part.Doc, Type: ft, Sensitive: sensitiveType(types, p.Type),
				Source: model.Source{Kind: model.FromRecordKey, Part: info.Part}}
			k.Model.Parts = append(k.Model.Parts, info.Part)
		} else {
			k.Known = false
		}
		k.Parts = append(k.Parts, info)
	}
	return k
}

func checkPart(report *syntax.Diagnostics, p *syntax.KeyPart, ft model.FieldType) bool {
	switch {
	case ft.Optional:
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("record-key part %s may be missing, so it cannot be part of a key", wording.Quote(p.Name.Value)), `remove "optional"`)
	case !typeword.FitsKey(ft):
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("%s cannot be part of a record key: %s", withArticle(typeword.Text(ft)), wording.Quote(p.Name.Value)), keyTypes)
	case ft.Notation.OfDocuments() && p.Path == nil:
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("record-key part %s is %s, which a record key that is one text cannot hold", wording.Quote(p.Name.Value), typeword.Text(ft)), "write its path, if the record key is a JSON object; otherwise declare it "+typeword.Text(model.FieldType{Kind: ft.Kind}))
	default:
		return true
	}
	return false
}

// checkPlace checks where a part is in a record key of so many parts.
func checkPlace(report *syntax.Diagnostics, k *model.RecordKey, parts int, p *syntax.KeyPart, ft model.FieldType) bool {
	name := wording.Quote(p.Name.Value)
	switch {
	case p.Path != nil && len(p.Path.Members) == 0 && parts > 1:
		report.Add(p.Path.Pos, "E307", fmt.Sprintf("record-key part %s has the path of the whole key, but the key has %d parts", name, parts), "write the path of its member: path: "+p.Name.Value)
	case k.Encoding == "binary" && p.Path != nil:
		report.Add(p.Path.Key, "E307", fmt.Sprintf("record-key part %s has a path, but a binary key has no members", name), "write "+p.Name.Value+": "+typeword.Text(ft))
	case k.Encoding == "binary" && !fitsBinary(ft):
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("%s cannot be read from a binary key: %s", withArticle(typeword.Text(ft)), name), binaryHint)
	case k.Unpacks() && p.Path == nil:
		report.Add(p.Name.Pos, "E313", fmt.Sprintf("record-key part %s has no path, but a key in %s has members", name, k.Encoding),
			fmt.Sprintf("write %s: {type: %s, path: ...}; if the key is a single value, its path is $", p.Name.Value, typeword.Text(ft)))
	default:
		return true
	}
	return false
}

// fitsBinary reports whether a binary record key or header may have a type.
func fitsBinary(t model.FieldType) bool {
	return slices.Contains([]model.Kind{model.Int32, model.Int64, model.UUID, model.Bytes}, t.Kind) && t.Notation == model.Usual
}

const binaryHint = "use int32 (4 bytes), int64 (8 bytes), uuid (16 bytes) or bytes (as they are)"

// keyTypes is the hint of E310.
const keyTypes = "use string, uuid, int64, decimal, date, bytes, an enum or a timestamp"

// matchPart ties a field to the record-key part of its name, or reports E313.
func matchPart(report *syntax.Diagnostics, k *draft.RecordKey, in draft.Field) {
	if k == nil || in.Field == nil {
		return
	}
	i := slices.IndexFunc(k.Parts, func(p draft.KeyPart) bool { return p.Spec.Name.Value == in.Spec.Name.Value })
	if i < 0 || k.Parts[i].Part == nil {
		return
	}
	part := k.Parts[i].Part
	switch {
	case in.Field.Source.Kind == model.FromRecord:
		report.Add(in.Spec.Record.Key, "E313", fmt.Sprintf("field %s is read by record: %s, but it is also a part of the record key", wording.Quote(part.Name), in.Field.Source.Record),
			"remove the field, or give it another name")
	case in.Field.Patch:
		report.Add(in.Spec.Patch.Key, "E309", fmt.Sprintf("patch field %s is also a part of the record key, which is never absent", wording.Quote(part.Name)), `remove "patch"`)
	case typeword.Text(part.Type) != typeword.Text(in.Field.Type) || in.Field.Type.Optional:
		report.Add(in.Spec.Type.Pos, "E313", fmt.Sprintf("field %s is %s, but the part %s of the record key is %s", wording.Quote(part.Name), in.Spec.Type.Text, wording.Quote(part.Name), typeword.Text(part.Type)),
			"a field and a record-key part with the same name must have the same type: the runtime checks that their values agree")
	default:
		in.Field.SamePart = part
	}
}
