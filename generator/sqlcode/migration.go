package sqlcode

import (
	"fmt"
	"strings"

	"github.com/idemgen/idemgen/templates"
)

// Migration returns a migration file: what it is for, one or more lines, and its parts in
// one transaction.
func Migration(comment string, parts ...string) (string, error) {
	text, err := render("migration", map[string]any{"Comment": strings.Split(comment, "\n"), "Parts": parts})
	return text + "\n", err
}

// RuntimeTables returns the migration that brings the runtime's own tables to a schema
// version from the one before.
func RuntimeTables(version int) (string, error) {
	text, err := templates.SQL.ReadFile(fmt.Sprintf("sql/idem_%d.sql", version))
	if err != nil {
		return "", fmt.Errorf("the runtime's tables have no version %d", version)
	}
	return string(text), nil
}
