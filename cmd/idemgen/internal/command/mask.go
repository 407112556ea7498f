package command

import (
	"path/filepath"
	"strconv"
	"strings"
)

// masked stands in place of an argument that is not shown.
const masked = "(an argument that looks like a database's address; not shown)"

// Mask takes out of a text every argument that may hold a password, wherever it was meant to
// go: a database's address is easily given without its flag, or to another one.
func Mask(text string, args []string) string {
	for _, arg := range args {
		if !strings.Contains(arg, "://") && !strings.Contains(arg, "@") && !strings.Contains(strings.ToLower(arg), "password=") {
			continue
		}
		forms := []string{arg}
		if _, value, ok := strings.Cut(arg, "="); ok && arg[0] == '-' && value != "" {
			forms = append(forms, value)
		}
		for _, form := range forms {
			quoted := strconv.Quote(form)
			path := filepath.ToSlash(filepath.Clean(form))
			for _, shown := range []string{quoted, quoted[1 : len(quoted)-1], form, path, strings.TrimSuffix(path, "/...")} {
				text = strings.ReplaceAll(text, shown, masked)
			}
		}
	}
	return text
}
