package schema

import (
	"regexp"
	"slices"
)

// Import is an entry of import: a library whose types and tables the file names as alias.Name.
type Import struct {
	Alias Text  // Pos is the key
	Path  *Text // relative to the file; nil only if it was refused
	// Library is what is at Path, and Refused that there is none, which is reported. Whoever reads
	// files sets one of them.
	Library *Spec
	Refused bool
}

// Reached are the spec and the libraries that it imports, also through others, each once.
func (s *Spec) Reached() []*Spec {
	files := []*Spec{s}
	for i := 0; i < len(files); i++ { // files grows
		for _, imported := range files[i].Imports {
			if imported.Library != nil && !slices.Contains(files, imported.Library) {
				files = append(files, imported.Library)
			}
		}
	}
	return files
}

var aliasNames = nameKind{"import alias", snakePattern, snakeRule, snake}

// readImports reads a map from alias to path.
func readImports(w *walker, e entry, s *Spec) bool {
	whole := true
	return w.named(e, aliasNames, func(name Text, valid bool, n *Node) {
		i := &Import{Alias: name}
		s.Imports = append(s.Imports, i)
		read := pathValue(func(i *Import) **Text { return &i.Path })
		if !read.read(w, entry{"import " + quote(name.Value), name.Pos, n}, i) || !valid {
			whole = false
		}
	}) && whole
}

var qualified = regexp.MustCompile(`^([a-z][a-z0-9_]{0,40})\.[A-Za-z][A-Za-z0-9_]*$`)

// AliasOf is the alias in a name of the form alias.Name; "" if it has another form.
func AliasOf(name string) string {
	if m := qualified.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}
