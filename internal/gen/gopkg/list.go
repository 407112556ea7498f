package gopkg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// ignored returns the names of the files of a folder that build constraints leave out. It
// resolves no import, and reads no go.mod, workspace or vendored package: before the first
// generate they may be incomplete.
func ignored(dir string) (_ map[string]bool, err error) {
	modules, err := os.MkdirTemp("", "idemgen-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(modules)) }()
	alone := filepath.Join(modules, "go.mod")
	if err := os.WriteFile(alone, []byte("module listed\n"), 0o600); err != nil {
		return nil, err
	}
	all, err := packages.Load(&packages.Config{
		Dir:        dir,
		Mode:       packages.NeedName | packages.NeedFiles,
		BuildFlags: []string{"-mod=mod", "-modfile=" + alone},
		Env:        append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS="), // no network, whatever the environment says
	}, ".")
	if err != nil {
		return nil, listing(err)
	}
	left := map[string]bool{}
	for _, p := range all {
		for _, file := range p.IgnoredFiles {
			left[filepath.Base(file)] = true
		}
	}
	return left, nil
}

// listing is the error of the go command, without how it was run.
func listing(err error) error {
	const what = "listing the Go files beside the spec"
	if _, printed, ok := strings.Cut(err.Error(), "stderr: "); ok {
		return fmt.Errorf("%s: %s", what, strings.TrimSpace(printed))
	}
	return fmt.Errorf("%s: %w", what, err)
}
