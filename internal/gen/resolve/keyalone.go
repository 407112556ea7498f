package resolve

import (
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/typeword"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// checkAlone reports a record key that is a name without a type (E106), and says which type has
// that name elsewhere in the spec.
func (r *topicReader) checkAlone(spec *syntax.Topic) {
	if spec.RecordKey == nil || spec.RecordKey.Alone == nil {
		return
	}
	name := spec.RecordKey.Alone
	hint := "write record_key: {" + name.Value + ": string}, or in place of string the type of the key: " + strings.TrimPrefix(keyTypes, "use ")
	if word := r.typeOfName(spec, name); word != "" {
		hint = "write record_key: {" + name.Value + ": " + word + "}"
	}
	r.report.Add(name.Pos, "E106", "record_key must be a map, not a string", hint)
}

// typeOfName is the type of a field of the topic, else of a column of that name, as a record key
// has it; "" if there is none.
func (r *topicReader) typeOfName(spec *syntax.Topic, name *syntax.Text) string {
	fields := append([]*syntax.Field{}, spec.Fields...)
	for _, e := range spec.Events {
		fields = append(fields, e.Fields...)
	}
	for _, f := range fields {
		if f.Name.Value == name.Value && f.Type != nil {
			if word := r.keyWord(f.Type.Name); word != "" {
				return word
			}
		}
	}
	for _, t := range r.tables.All {
		for _, c := range t.Spec.Columns {
			if c.Name.Value == name.Value {
				if word := r.keyWord(c.Type.Word); word != "" {
					return word
				}
			}
		}
	}
	return ""
}

// keyWord is the type of a field or column as the one of a key; "" if a key cannot have it.
func (r *topicReader) keyWord(word string) string {
	word, _, _ = strings.Cut(word, "(")
	word = typeWord(r.types, word)
	if s, scalar := typeword.ScalarOf(word); scalar && typeword.FitsKey(model.FieldType{Kind: s.Kind}) {
		return word
	}
	return ""
}
