package main

import (
	"cmp"
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
	ImportPath                string
	Deps                      []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
	uses                      map[string]bool // what its tests link, of the module
}

// listPackages returns the packages of the module in root.
func listPackages(ctx context.Context, root string) ([]*modulePackage, error) {
	cmd := exec.CommandContext(ctx, "go", "list",
		"-json=ImportPath,Deps,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []*modulePackage
	deps := map[string][]string{}
	for list := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(modulePackage)
		if err := list.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
		deps[p.ImportPath] = append(p.Deps, p.ImportPath)
	}
	for _, p := range all {
		p.uses = map[string]bool{}
		for _, in := range slices.Concat([]string{p.ImportPath}, p.TestImports, p.XTestImports) {
			for _, d := range deps[in] {
				p.uses[d] = true
			}
		}
	}
	return all, nil
}

func (p *modulePackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// dir is a package's directory below the module's root.
func (p *modulePackage) dir() string {
	return "./" + strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
}

// mostNear is how many packages' tests are near a package because they link little else.
const mostNear = 6

// near returns the packages whose tests are near the one in dir: its own, those that planted bugs
// of it name, those that link it and least else, and for the generator those of the golden cases.
func near(packages []*modulePackage, dir string) []string {
	var list []*modulePackage
	var of string
	for _, p := range packages {
		if p.dir() == dir {
			of = p.ImportPath
		}
	}
	for _, p := range packages {
		if p.hasTests() && p.uses[of] && !strings.HasPrefix(p.dir(), "./examples/") {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *modulePackage) int {
		if own := (a.ImportPath == of); own != (b.ImportPath == of) {
			return map[bool]int{true: -1, false: 1}[own]
		}
		return cmp.Compare(len(a.uses), len(b.uses))
	})
	var dirs []string
	for _, p := range list[:min(len(list), mostNear)] {
		dirs = append(dirs, p.dir())
	}
	if strings.HasPrefix(dir, "./internal/gen/") && !slices.Contains(dirs, specs) {
		dirs = append(dirs, specs)
	}
	for _, m := range all() {
		if m.edits.Within(dir) && !slices.Contains(dirs, m.pkg) && !strings.HasPrefix(m.pkg, "./scripts") {
			dirs = append(dirs, m.pkg)
		}
	}
	return dirs
}
