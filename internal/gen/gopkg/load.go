package gopkg

import (
	"context"
	"errors"
	"fmt"
	"os"
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
