package sqlcode

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/idemgen/idemgen/templates"
)

// Migration returns a migration file: what it is for, one or more lines, and its parts in
// one transaction.
func Migration(comment string, parts ...string) (string, error) {
	text, err := render("migration", map[string]any{"Comment": strings.Split(comment, "\n"), "Parts": parts})
	return text + "\n", err
}

// RuntimeTables returns the migrations of the runtime's own tables: the first makes them, in
// schema version 1, and each further one brings them to the next version.
func RuntimeTables() []string { return runtimeTables(templates.SQL) }

func runtimeTables(files fs.ReadFileFS) []string {
	var texts []string
	for {
		text, err := files.ReadFile(fmt.Sprintf("sql/idem_%d.sql", len(texts)+1))
		if err != nil {
			return texts
		}
		texts = append(texts, string(text))
	}
}
