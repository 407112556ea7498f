package gocode

import "github.com/idemgen/idemgen/internal/gen/model"

// redaction writes the methods by which a struct is printed without its sensitive fields, if it
// has any. Structs in it have theirs.
func redaction(f *file, name string, fields []*model.Field) {
	hidden := []code{text("f"), text("verb"), text("v")}
	for _, field := range fields {
		if field.Sensitive {
			hidden = append(hidden, lit(field.GoName))
		}
	}
	if len(hidden) == 3 {
		return
	}
	params := []code{named("f", qual("fmt", "State")), text("verb rune")}
	f.fn("Format prints v without its sensitive fields.", "v "+name, "Format", params, nil, func(g *group) {
		g.Add(wire("Format").Call(hidden...))
	})
	f.fn("LogValue returns v for slog, as Format prints it.", "v "+name, "LogValue", nil, qual("log/slog", "Value"), func(g *group) {
		g.Return(wire("LogValue").Call(text("v")))
	})
}
