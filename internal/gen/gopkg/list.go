package gopkg

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// ignored returns the names of the files of a folder that build constraints leave out. It resolves
// no import, and reads neither a workspace nor vendored packages.
func ignored(dir string) (map[string]bool, error) {
	all, err := packages.Load(&packages.Config{
		Dir:  dir,
		Mode: packages.NeedName | packages.NeedFiles,
		// No network, no change of go.mod, whatever the environment says.
		BuildFlags: []string{"-mod=readonly"},
		Env:        append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS="),
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
