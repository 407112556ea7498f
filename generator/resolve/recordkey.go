package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// recordKey is the record key of a topic with, for each part, the field that events
// read it as. A part that was refused has a nil field.
type recordKey struct {
	model *model.RecordKey
	parts []partInfo
	known bool // every part is
}

type partInfo struct {
	spec  *schema.KeyPart
	part  *model.KeyPart
	field *model.Field
}

func resolveRecordKey(report *schema.Diagnostics, types *types, spec *schema.RecordKey) *recordKey {
	if spec == nil {
		return nil
	}
	k := &recordKey{model: &model.RecordKey{}, known: !spec.Broken}
	for _, p := range spec.Parts {
		info := partInfo{spec: p}
		if ft, ok := fieldType(report, types, p.Type); ok && !p.Broken && checkPart(report, p, ft) {
			info.part = &model.KeyPart{Name: p.Name.Value, GoName: goNameOf(p.Name.Value, p.Doc), Doc: docOf(p.Doc), Type: ft}
			if p.Path != nil {
				info.part.Path = slices.Clone(p.Path.Members)
				k.model.JSON = true
			}
			info.field = &model.Field{Name: info.part.Name, GoName: info.part.GoName, Doc: info.part.Doc, Type: ft,
				Source: model.Source{Kind: model.FromRecordKey, Part: info.part}}
			k.model.Parts = append(k.model.Parts, info.part)
		} else {
			k.known = false
		}
		k.parts = append(k.parts, info)
	}
	return k
}

func checkPart(report *schema.Diagnostics, p *schema.KeyPart, ft model.FieldType) bool {
	switch {
	case ft.Optional:
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("record-key part %s may be missing, so it cannot be part of a key", quote(p.Name.Value)), `drop "optional"`)
	case !fitForKey(ft):
		report.Add(p.Type.Pos, "E310", fmt.Sprintf("%s cannot be part of a record key: %s", withArticle(typeText(ft)), quote(p.Name.Value)), keyTypes)
	case p.Path != nil && len(p.Path.Members) == 0:
		report.Add(p.Path.Pos, "E307", fmt.Sprintf("record-key part %s has the path of the whole key", quote(p.Name.Value)), "for a key that is one text write "+p.Name.Value+": "+typeText(ft))
	default:
		return true
	}
	return false
}

// keyTypes is the hint of E310.
const keyTypes = "use string, uuid, int64, decimal, date, bytes, an enum or a timestamp"

// matchPart ties a field to the record-key part of its name, or reports E313.
func matchPart(report *schema.Diagnostics, k *recordKey, in fieldInfo) {
	if k == nil || in.field == nil {
		return
	}
	i := slices.IndexFunc(k.parts, func(p partInfo) bool { return p.spec.Name.Value == in.spec.Name.Value })
	if i < 0 || k.parts[i].part == nil {
		return
	}
	part := k.parts[i].part
	switch {
	case in.field.Source.Kind == model.FromRecord:
		report.Add(in.spec.Record.Key, "E313", fmt.Sprintf("field %s is read by record: %s, but it is also a part of the record key", quote(part.Name), in.field.Source.Record),
			"drop the field, or give it another name")
	case typeText(part.Type) != typeText(in.field.Type) || in.field.Type.Optional:
		report.Add(in.spec.Type.Pos, "E313", fmt.Sprintf("field %s is %s, but the part %s of the record key is %s", quote(part.Name), in.spec.Type.Text, quote(part.Name), typeText(part.Type)),
			"a field and a record-key part of one name must have the same type: the runtime checks that they agree")
	default:
		in.field.SamePart = part
	}
}
