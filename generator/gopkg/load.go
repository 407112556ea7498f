package gopkg

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// loaded is a package as the go command and the type checker see it.
type loaded = packages.Package

// listFiles asks for the files of the packages in folders, tests too.
func listFiles(ctx context.Context, module string, folders []string) ([]*loaded, error) {
	all, err := packages.Load(&packages.Config{
		Context: ctx, Dir: module, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles,
		// No network, no change of go.mod, whatever the environment says.
		BuildFlags: []string{"-mod=readonly"},
		Env:        append(os.Environ(), "GOPROXY=off", "GOWORK=off"),
	}, folders...)
	if err != nil {
		return nil, listing(err)
	}
	return all, nil
}

// loadDeclared asks for what packages declare, with all that they import. Of packages outside
// the module it looks into no function, which is most of the work.
func loadDeclared(ctx context.Context, module string, paths []string) ([]*loaded, error) {
	all, err := packages.Load(&packages.Config{
		Context: ctx, Dir: module,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedModule,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			f, err := parser.ParseFile(fset, name, src, parser.AllErrors|parser.SkipObjectResolution)
			if f != nil && !strings.HasPrefix(name, module+string(filepath.Separator)) {
				empty(f)
			}
			return f, err
		},
		BuildFlags: []string{modFlag(module)},
		// Without cgo, so that no C compiler has a say in what a type is.
		Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0"),
	}, paths...)
	if err != nil {
		return nil, listing(err)
	}
	return all, nil
}

// empty puts a loop without end, which needs no result, in the place of each function's body.
func empty(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			fn.Body.List = []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}}
		}
	}
}

// modFlag keeps go.mod as it is.
func modFlag(module string) string {
	if _, err := os.Stat(filepath.Join(module, "vendor", "modules.txt")); err == nil {
		return "-mod=vendor"
	}
	return "-mod=readonly"
}

// listing is the error of the go command, with what helps where its own text hides it.
func listing(err error) error {
	const what = "listing the Go files beside the spec"
	text := err.Error()
	for _, incomplete := range []string{"updates to go.mod needed", "updates to go.sum needed", "missing go.sum entry"} {
		if strings.Contains(text, incomplete) {
			return fmt.Errorf("%s: the module's go.mod or go.sum is not complete (%s): run go mod tidy first", what, incomplete)
		}
	}
	if _, printed, ok := strings.Cut(text, "stderr: "); ok { // without how the command was run
		return fmt.Errorf("%s: %s", what, strings.TrimSpace(printed))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// unlisted is why the go command found no file of a package.
func unlisted(p *loaded) (err error) {
	for _, e := range p.Errors {
		if len(p.GoFiles) == 0 && e.Kind == packages.ListError {
			err = errors.Join(err, listing(e))
		}
	}
	return err
}

// firstError is an error of the package that may be the cause, by file name. Outside the module
// no type error counts, since an import is unused there that only functions needed.
func firstError(p *packages.Package) string {
	own := p.Module != nil && p.Module.Main
	for _, e := range p.Errors {
		if e.Kind == packages.ParseError || e.Kind == packages.TypeError && own {
			file, rest, _ := strings.Cut(e.Pos, ":")
			return fmt.Sprintf(" (%s:%s: %s)", filepath.Base(file), rest, e.Msg)
		}
	}
	return ""
}
