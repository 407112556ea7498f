package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

// builds are the binaries of all labs of the tests. Many of their bugs are the same, and to build
// is most of the work.
var builds binaries

func TestMain(m *testing.M) {
	var err error
	if builds.dir, err = os.MkdirTemp("", "mutants-test-"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400) // TestEveryBugCompiles leaves much behind that is soon over
	code := m.Run()
	_ = os.RemoveAll(builds.dir)
	os.Exit(code)
}

// binaries are built once for each content of the files that a bug changes.
type binaries struct {
	dir  string
	once sync.Map // func() built, by package and content
}

// link puts a binary where it is wanted. It is built even if the test that asks is over by then:
// another one may wait for it.
func (b *binaries) link(l *lab, pkg, bin string, args []string) error {
	content, err := overlaid(args)
	if err != nil {
		return err
	}
	once, _ := b.once.LoadOrStore(pkg+content, sync.OnceValue(func() built {
		dir, err := os.MkdirTemp(b.dir, "")
		bin := filepath.Join(dir, "bin.test")
		return built{bin, errors.Join(err, l.compile(context.Background(), pkg, bin, args...))}
	}))
	made := once.(func() built)()
	if made.err != nil {
		return made.err
	}
	return os.Link(made.bin, bin)
}

// overlaid is the content of the files that an overlay puts in the place of others.
func overlaid(args []string) (string, error) {
	var all strings.Builder
	for _, arg := range args {
		list, err := os.ReadFile(strings.TrimPrefix(arg, "-overlay="))
		if err != nil {
			return "", err
		}
		var overlay struct{ Replace map[string]string }
		if err := json.Unmarshal(list, &overlay); err != nil {
			return "", err
		}
		for path, by := range overlay.Replace {
			src, err := os.ReadFile(by)
			if err != nil {
				return "", err
			}
			all.WriteString(path + string(src))
		}
	}
	return all.String(), nil
}
