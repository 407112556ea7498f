package wire

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
)

// redacted replaces a value that must not be printed.
const redacted = "[sensitive]"

// Format prints v, a struct, as package fmt does, but prints "[sensitive]" for the fields named in
// hidden. Field names are printed with every verb.
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

// LogValue returns the value that slog logs for v: its text, as %+v prints it.
func LogValue(v fmt.Formatter) slog.Value { return slog.StringValue(fmt.Sprintf("%+v", v)) }
