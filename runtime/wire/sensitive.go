package wire

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
)

// redacted stands for a value that is in no text.
const redacted = "[sensitive]"

// Format prints v, a struct, as package fmt does, but the fields that are named as [sensitive].
// With every verb fields have their names.
func Format(f fmt.State, verb rune, v any, hidden ...string) {
	of := reflect.ValueOf(v)
	sep := " "
	if f.Flag('#') {
		sep = ", "
		_, _ = io.WriteString(f, of.Type().String())
	}
	form := fmt.FormatString(f, verb)
	_, _ = io.WriteString(f, "{")
	for i := range of.NumField() {
		name := of.Type().Field(i).Name
		if i > 0 {
			_, _ = io.WriteString(f, sep)
		}
		_, _ = io.WriteString(f, name+":")
		if slices.Contains(hidden, name) {
			_, _ = io.WriteString(f, redacted)
			continue
		}
		_, _ = fmt.Fprintf(f, form, of.Field(i).Interface())
	}
	_, _ = io.WriteString(f, "}")
}

// LogValue is what slog logs of v: its text, as %+v prints it.
func LogValue(v fmt.Formatter) slog.Value { return slog.StringValue(fmt.Sprintf("%+v", v)) }
