package sqlcode

import (
	"fmt"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// AddColumn returns the statements that add a column, nullable or with a default, to an
// existing table.
func AddColumn(t *model.Table, c *model.Column) (string, error) {
	line, err := columnLine(c)
	if err != nil {
		return "", fmt.Errorf("table %s, column %s: %w", t.Name, c.Name, err)
	}
	return render("column", map[string]any{"Table": tableIdent(t), "Line": line, "Comments": columnComments(t, c)})
}

// columnLine defines a column as CREATE TABLE and ADD COLUMN take it.
func columnLine(c *model.Column) (string, error) {
	line := columnIdent(c) + " " + columnType(c.Type)
	if !c.Nullable {
		line += " NOT NULL"
	}
	if c.Identity {
		return line + " GENERATED ALWAYS AS IDENTITY", nil
	}
	if c.Default == nil {
		return line, nil
	}
	text, err := defaultText(c)
	return line + " DEFAULT " + text, err
}

// defaultText is what stands behind DEFAULT.
func defaultText(c *model.Column) (string, error) {
	if c.Default.Const != nil {
		return literal(c.Type, c.Default.Const)
	}
	return c.Default.Func, nil
}

type comment struct {
	Object string
	Text   string
}

func tableComments(t *model.Table) []comment {
	var comments []comment
	if text := t.Doc.Description; text != "" {
		comments = append(comments, comment{"TABLE " + tableIdent(t), quote(text)})
	}
	for _, c := range t.Columns {
		comments = append(comments, columnComments(t, c)...)
	}
	return comments
}

func columnComments(t *model.Table, c *model.Column) []comment {
	if text := c.Doc.Description; text != "" {
		return []comment{{"COLUMN " + tableIdent(t) + "." + columnIdent(c), quote(text)}}
	}
	return nil
}
