package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const modulePath = "github.com/idemgen/idemgen"

// modulePackage is a package of the module, as the go command lists it.
type modulePackage struct {
	ImportPath                         string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string
}

// listPackages returns the packages of the module in root.
func listPackages(ctx context.Context, root string) ([]*modulePackage, error) {
	cmd := exec.CommandContext(ctx, "go", "list",
		"-json=ImportPath,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []*modulePackage
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(modulePackage)
		if err := list.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

func (p *modulePackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// dir is a package's directory below the module's root.
func (p *modulePackage) dir() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
}

// near returns the packages whose tests are near the one in dir: its own, those of packages in its
// folder or that import it, and for the generator those that play the golden cases.
func near(packages []*modulePackage, dir string) []string {
	var dirs []string
	of := modulePath + strings.TrimPrefix(dir, ".")
	for _, p := range packages {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		generates := p.dir() == specs && strings.HasPrefix(dir, "./internal/gen/")
		below := strings.HasPrefix(p.ImportPath, of+"/")
		if p.hasTests() && (p.ImportPath == of || below || slices.Contains(imports, of) || generates) && !strings.HasPrefix(p.dir(), "./examples/") {
			dirs = append(dirs, p.dir())
		}
	}
	return dirs
}
