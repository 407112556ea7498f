package generator

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/gopkg"
	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/output"
	"github.com/idemgen/idemgen/internal/gen/scaffold"
)

// addScaffolds adds the starter files for what generated code or its tests refer to and no
// hand-written file declares.
func (u *unit) addScaffolds(hand *gopkg.Package) error {
	if at, old := hand.Declared[scaffold.TestHandler]; old && len(scaffold.Handled(u.service)) == 0 {
		u.note("%s: %s returns a Handler, and no event has Go code: delete the function, and the imports that nothing else needs\n", u.at(at), scaffold.TestHandler)
	}
	_, err := u.folder.Read(scaffold.HandlerFile)
	scaffolded := errors.Is(err, fs.ErrNotExist) && u.wantsHandler(hand)
	if scaffolded {
		render := scaffold.Handler
		if u.sample {
			render = scaffold.SampleHandler
		}
		data, err := render(u.service)
		if err != nil {
			return err
		}
		u.addScaffold(scaffold.HandlerFile, data)
		var methods []string
		for _, e := range scaffold.Handled(u.service) {
			methods = append(methods, e.GoName)
		}
		u.note("%s is yours: write %s there; a case says what must come out (idemgen case)\n", u.folder.Show(scaffold.HandlerFile), strings.Join(methods, ", "))
	} else if err := u.missingMethods(hand); err != nil {
		return err
	}
	missing := func(name string) bool {
		_, declared := hand.Declared[name]
		return !declared && u.testsUse(name)
	}
	needs := scaffold.Needs{TestHandler: missing(scaffold.TestHandler), TestLog: missing(scaffold.TestLog), Scaffolded: scaffolded}
	if !needs.TestHandler && !needs.TestLog {
		return nil
	}
	data, err := scaffold.Setup(u.service, needs)
	if err != nil {
		return err
	}
	name, err := u.setupFile(needs.TestHandler)
	if err != nil {
		return err
	}
	u.addScaffold(name, data)
	return nil
}

func (u *unit) addScaffold(name string, data []byte) {
	u.files = append(u.files, output.File{Path: name, Policy: output.Scaffold, Data: data})
}

// wantsHandler reports whether nobody has begun to implement Handler: neither type
// Service nor any of its methods is there.
func (u *unit) wantsHandler(hand *gopkg.Package) bool {
	if _, declared := hand.Declared[scaffold.ServiceType]; declared {
		return false
	}
	handled := scaffold.Handled(u.service)
	for _, e := range handled {
		if hand.Method(e.GoName) {
			return false
		}
	}
	return len(handled) > 0
}

// missingMethods notes the methods of Handler that hand-written code lacks, as text to
// paste: a starter file that is there is not added to.
func (u *unit) missingMethods(hand *gopkg.Package) error {
	handled := scaffold.Handled(u.service)
	receiver := scaffold.ServiceType
	if _, declared := hand.Declared[receiver]; !declared {
		receiver = cmp.Or(hand.Receiver(func(method string) bool {
			return slices.ContainsFunc(handled, func(e *model.Event) bool { return e.GoName == method })
		}), receiver)
	}
	for _, e := range handled {
		if hand.Method(e.GoName) {
			continue
		}
		text, err := scaffold.Method(receiver, e)
		if err != nil {
			return err
		}
		u.note("%s has no method for event %q; to paste beside the others:\n\n%s\n", receiver, e.Name, text)
	}
	return nil
}

// testsUse reports whether a generated test refers to a name.
func (u *unit) testsUse(name string) (used bool) {
	for _, f := range u.files {
		if !strings.HasSuffix(f.Path, "_test.go") || !bytes.Contains(f.Data, []byte(name)) {
			continue
		}
		syntax, _ := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.SkipObjectResolution) // checked when it was rendered
		ast.Inspect(syntax, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == name {
				used = true
			}
			return !used
		})
	}
	return used
}

// setupFile is where the missing part of the tests' set-up goes: a set-up that was written
// before the spec had its first handler is the team's and cannot be added to.
func (u *unit) setupFile(handler bool) (string, error) {
	_, err := u.folder.Read(scaffold.SetupFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return scaffold.SetupFile, nil
	case err != nil:
		return "", err
	case handler:
		return "idem_setup_handler_test.go", nil
	}
	return "idem_setup_log_test.go", nil
}
