package sqlcode

import (
	"fmt"
	"strings"
	"text/template"

	"github.com/idemgen/idemgen/templates"
)

var shapes = template.Must(template.New("").Funcs(template.FuncMap{
	"lines":  lines,
	"list":   list,
	"all":    all,
	"indent": indent,
}).ParseFS(templates.SQL, "sql/*.tmpl"))

func list(items []string) string { return strings.Join(items, ", ") }

// indent moves a text to the right.
func indent(by int, text string) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad)
}

// lines puts each item on a line of its own.
func lines(indent int, items []string) string {
	pad := strings.Repeat(" ", indent)
	return pad + strings.Join(items, ",\n"+pad)
}

// all joins conditions, from the second on a line of their own; indent 0 keeps one line.
func all(indent int, conditions []string) string {
	if indent == 0 {
		return strings.Join(conditions, " AND ")
	}
	return strings.Join(conditions, "\n"+strings.Repeat(" ", indent)+"AND ")
}

func render(shape string, data any) (string, error) {
	var b strings.Builder
	if err := shapes.ExecuteTemplate(&b, shape+".tmpl", data); err != nil {
		return "", fmt.Errorf("sql template %s: %w", shape, err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
