package generator

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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

// starters are the starter files of a spec, and what to tell about them.
type starters struct {
	*source
	hand  *gopkg.Package // what the team has
	files []output.File
	notes strings.Builder
}

// starterFiles returns the starter files for what the rendered files refer to and no hand-written
// file declares, and what to tell about them. Sample says that the spec is the sample of Init,
// whose Go code is known.
func starterFiles(s *source, hand *gopkg.Package, rendered []output.File, sample bool) ([]output.File, string, error) {
	u := &starters{source: s, hand: hand}
	if at, old := hand.Declared[scaffold.TestHandler]; old && len(scaffold.Handled(s.service)) == 0 {
		u.note("%s: %s returns a Handler, and no event has Go code: delete the function, and the imports that nothing else needs\n", s.at(at), scaffold.TestHandler)
	}
	handler, err := u.handler(sample)
	if err == nil {
		err = u.setup(rendered, handler)
	}
	return u.files, u.notes.String(), err
}

func (u *starters) note(format string, args ...any) { fmt.Fprintf(&u.notes, format, args...) }

func (u *starters) add(name string, data []byte) {
	u.files = append(u.files, output.File{Path: name, Policy: output.Scaffold, Data: data})
}

// handler adds the file of the handlers, if nobody has begun one, or notes what is missing.
func (u *starters) handler(sample bool) (added bool, err error) {
	if _, err := u.folder.Read(scaffold.HandlerFile); !errors.Is(err, fs.ErrNotExist) || !u.wantsHandler() {
		return false, u.missingMethods()
	}
	render := scaffold.Handler
	if sample {
		render = scaffold.SampleHandler
	}
	data, err := render(u.service)
	if err != nil {
		return false, err
	}
	u.add(scaffold.HandlerFile, data)
	var methods []string
	for _, e := range scaffold.Handled(u.service) {
		methods = append(methods, e.GoName)
	}
	u.note("%s is yours: write %s there; a case says what must come out (idemgen case)\n", u.folder.Show(scaffold.HandlerFile), strings.Join(methods, ", "))
	return true, nil
}

// setup adds the set-up of the tests, as far as they use it and it is not there. Scaffolded says
// that the handler under test is that of the starter file.
func (u *starters) setup(rendered []output.File, scaffolded bool) error {
	missing := func(name string) bool {
		_, declared := u.hand.Declared[name]
		return !declared && testsUse(rendered, name)
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
	u.add(name, data)
	return err
}

// wantsHandler reports whether nobody has begun to implement Handler: neither type
// Service nor any of its methods is there.
func (u *starters) wantsHandler() bool {
	if _, declared := u.hand.Declared[scaffold.ServiceType]; declared {
		return false
	}
	handled := scaffold.Handled(u.service)
	for _, e := range handled {
		if u.hand.Method(e.GoName) {
			return false
		}
	}
	return len(handled) > 0
}

// missingMethods notes the methods of Handler that hand-written code lacks, as text to
// paste: a starter file that is there is not added to.
func (u *starters) missingMethods() error {
	handled := scaffold.Handled(u.service)
	receiver := scaffold.ServiceType
	if _, declared := u.hand.Declared[receiver]; !declared {
		receiver = cmp.Or(u.hand.Receiver(func(method string) bool {
			return slices.ContainsFunc(handled, func(e *model.Event) bool { return e.GoName == method })
		}), receiver)
	}
	for _, e := range handled {
		if u.hand.Method(e.GoName) {
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
func testsUse(rendered []output.File, name string) (used bool) {
	for _, f := range rendered {
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
func (u *starters) setupFile(handler bool) (string, error) {
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
