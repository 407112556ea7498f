package resolve

import (
	"fmt"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// bytesTexts are the ways to write bytes.
var bytesTexts = map[string]model.Notation{"base64": model.Usual, "base64url": model.Base64URL, "hex": model.Hex}

// resolveText reads how the bytes of a field are written, also those in its lists and maps (E311).
func resolveText(report *schema.Diagnostics, spec *schema.Field, ft *model.FieldType) bool {
	holds := innermost(ft)
	switch {
	case holds.Kind != model.Bytes:
		report.Add(spec.Text.Key, "E311", fmt.Sprintf("text says how bytes are written, but field %s is %s", wording.Quote(spec.Name.Value), typeword.Text(*ft)), "drop text, or declare the field bytes")
		return false
	case spec.Record != nil:
		report.Add(spec.Text.Key, "E311", fmt.Sprintf("field %s holds the bytes of the record's %s as they are", wording.Quote(spec.Name.Value), spec.Record.Value), "drop text")
		return false
	}
	holds.Notation = bytesTexts[spec.Text.Value]
	return true
}

// innermost is what lists and maps of a type hold in the end.
func innermost(ft *model.FieldType) *model.FieldType {
	for ft.Elem != nil {
		ft = ft.Elem
	}
	return ft
}
