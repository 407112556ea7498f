package generator

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/gopkg"
	"github.com/idemgen/idemgen/internal/gen/output"
)

// fits refuses Go files of another package than the spec's, and declarations of names that the
// rendered files declare, too.
func (s *source) fits(hand *gopkg.Package, files []output.File) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(hand.Clauses)) {
		if name != s.service.Package {
			errs = append(errs, fmt.Errorf("%s: package %s, but %s says package: %s", s.at(hand.Clauses[name]), name, s.Path, s.service.Package))
		}
	}
	for _, file := range files {
		if path.Ext(file.Path) != ".go" || len(hand.Declared) == 0 {
			continue
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, file.Path, file.Data, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("idemgen would write invalid Go code, please report this: %w", err)
		}
		gopkg.Each(syntax, func(name string, pos token.Pos) {
			if by, clash := hand.Declared[name]; clash {
				at := fset.Position(pos)
				errs = append(errs, fmt.Errorf("%s: %s is also declared by generated code, at %s:%d:%d: rename yours, or the entry of the spec",
					s.at(by), strings.TrimPrefix(name, "?."), s.folder.Show(file.Path), at.Line, at.Column))
			}
		})
	}
	return errors.Join(errs...)
}

// at is a position in a file beside the spec, as messages show it.
func (s *source) at(p token.Position) string {
	return fmt.Sprintf("%s:%d:%d", s.folder.Show(filepath.Base(p.Filename)), p.Line, p.Column)
}
