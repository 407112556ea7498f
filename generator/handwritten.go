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

	"github.com/idemgen/idemgen/generator/gopkg"
	"github.com/idemgen/idemgen/generator/output"
)

// lookAtHandWritten looks at the Go files that the team keeps beside each spec: names that
// generated code declares too are an error; starter files are added for what is missing.
func lookAtHandWritten(units []*unit) error {
	return each(units, func(u *unit) error {
		hand, err := u.handWritten()
		if err != nil {
			return err
		}
		return errors.Join(u.samePackage(hand), u.checkNames(hand), u.addScaffolds(hand))
	})
}

// handWritten is what the Go files beside the spec declare that idemgen did not generate.
func (u *unit) handWritten() (*gopkg.Package, error) {
	entries, err := u.folder.List(".")
	if err != nil {
		return nil, err
	}
	var files []gopkg.File
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || !e.Type().IsRegular() {
			continue
		}
		content, err := u.folder.Read(e.Name())
		if err != nil {
			return nil, err
		}
		if !output.Marked(content) {
			files = append(files, gopkg.File{Name: e.Name(), Content: content})
		}
	}
	return gopkg.Of(files), nil
}

// samePackage refuses Go files of another package than the spec's.
func (u *unit) samePackage(hand *gopkg.Package) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(hand.Clauses)) {
		if name != u.service.Package {
			errs = append(errs, fmt.Errorf("%s: package %s, but %s says package: %s", u.at(hand.Clauses[name]), name, u.Path, u.service.Package))
		}
	}
	return errors.Join(errs...)
}

// checkNames refuses hand-written declarations of names that generated code declares.
func (u *unit) checkNames(hand *gopkg.Package) error {
	if len(hand.Declared) == 0 {
		return nil
	}
	var errs []error
	for _, file := range u.files {
		if path.Ext(file.Path) != ".go" {
			continue
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, file.Path, file.Data, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("idemgen would write Go code that is none, please report this: %w", err)
		}
		gopkg.Each(syntax, func(name string, pos token.Pos) {
			if by, clash := hand.Declared[name]; clash {
				at := fset.Position(pos)
				errs = append(errs, fmt.Errorf("%s: %s is declared by generated code too, at %s:%d:%d: rename yours, or set go_name in the spec",
					u.at(by), strings.TrimPrefix(name, "?."), u.folder.Show(file.Path), at.Line, at.Column))
			}
		})
	}
	return errors.Join(errs...)
}

// at is a position in a file beside the spec, as messages show it.
func (u *unit) at(p token.Position) string {
	return fmt.Sprintf("%s:%d:%d", u.folder.Show(filepath.Base(p.Filename)), p.Line, p.Column)
}
