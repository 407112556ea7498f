package dev

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The files of a service are watched: code, specs, migrations, schemas and go.mod, but no tests,
// and nothing in folders that the go command passes over.
func TestFilesOfAServiceAreWatched(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"go.mod", "a.go", "a_test.go", "idemgen.yaml", "go.sum", "README.md", ".hidden.go", "migrations/1.sql", "x.proto", "x.avsc", "cmd/a/main.go", "testdata/cases/a.yaml",
		".git/a.go", "_old/a.go", "node_modules/a.go", "vendor/a.go", "cmd/vendor/a.go", "vendored/a.go",
	} {
		write(t, filepath.Join(dir, name), "x")
	}
	write(t, filepath.Join(other, "o.go"), "x")
	w := watch{roots: []string{dir, other, filepath.Join(dir, "none")}}
	var got []string
	for path := range w.now() {
		got = append(got, strings.NewReplacer(dir+"/", "", other+"/", "other ").Replace(filepath.ToSlash(path)))
	}
	slices.Sort(got)
	want := []string{"a.go", "cmd/a/main.go", "go.mod", "idemgen.yaml", "migrations/1.sql", "other o.go", "testdata/cases/a.yaml", "vendored/a.go", "x.avsc", "x.proto"}
	if !slices.Equal(got, want) {
		t.Errorf("watched are %q, want %q", got, want)
	}
}

// The first file that is new, gone or another one is what changed.
func TestWhatChangedIsNamed(t *testing.T) {
	was := map[string]string{"b": "1", "c": "1", "d": "1"}
	for want, change := range map[string]func(map[string]string){
		"a": func(is map[string]string) { is["a"], is["c"] = "1", "2" },
		"b": func(is map[string]string) { delete(is, "b"); is["e"] = "1" },
		"c": func(is map[string]string) { is["c"], is["d"] = "2", "2" },
	} {
		is := maps.Clone(was)
		change(is)
		if got := difference(was, is); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A change is reported by its path in the module, once the files have stopped changing. After the
// end nothing is reported.
func TestAChangeIsToldWhenAllHasSettled(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.go"), "x")
	synctest.Test(t, func(t *testing.T) {
		w := watch{roots: []string{dir}}
		seen, start := w.now(), time.Now()
		time.AfterFunc(time.Second, func() { write(t, filepath.Join(dir, "a.go"), "xx") })
		time.AfterFunc(time.Second+400*time.Millisecond, func() { write(t, filepath.Join(dir, "b.go"), "x") })
		if path := w.changed(t.Context(), seen); path != "a.go" {
			t.Errorf("%q changed", path)
		}
		if took := time.Since(start); took != 1800*time.Millisecond { // seen at 1.2 s, not settled at 1.5 s
			t.Errorf("it was told after %v", took)
		}
		for _, end := range []time.Duration{100 * time.Millisecond, 400 * time.Millisecond} { // before the change is seen, and before it settled
			ctx, cancel := context.WithTimeout(t.Context(), end)
			if path := w.changed(ctx, seen); path != "" {
				t.Errorf("%q changed, at the end", path)
			}
			cancel()
		}
	})
}
