package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/idemgen/idemgen/scripts/internal/stage"
)

// target is a fuzz test of Go.
type target struct{ folder, name string }

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9]+)\(`)

// targets are the fuzz tests below a folder.
func targets(root string) (found []target, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range fuzzFunc.FindAllSubmatch(text, -1) {
			found = append(found, target{filepath.ToSlash(filepath.Dir(path)), string(m[1])})
		}
		return err
	})
	return found, err
}

// functions runs each fuzz test for an equal share of the time.
func functions(ctx context.Context, long time.Duration) error {
	found, err := targets(".")
	if err != nil {
		return err
	}
	var failed []error
	for _, t := range found {
		share := max(long/time.Duration(len(found)), time.Second).Round(time.Second)
		fmt.Printf("%s of ./%s for %v\n", t.name, t.folder, share)
		err := stage.Go(ctx, "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", share.String(), "./"+t.folder)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
