package dev

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// watch looks for changes of the files that a service is made of. It asks the file system now and
// then, which works on every system and for every editor.
type watch struct{ roots []string } // the first is that of the module

const (
	lookEvery = 300 * time.Millisecond // how often the files are looked at
	settled   = 300 * time.Millisecond // how long no file may have changed any more
)

// now is what tells whether a file has changed, by path.
func (w watch) now() map[string]string {
	files := map[string]string{}
	for _, root := range w.roots {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil: // it is gone meanwhile
				return nil
			case entry.IsDir() && path != root && passedOver(entry.Name()):
				return fs.SkipDir
			case entry.IsDir() || !counts(entry.Name()):
				return nil
			}
			if info, err := entry.Info(); err == nil {
				files[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return files
}

// passedOver reports whether no file below a folder is part of the service, or changes.
func passedOver(dir string) bool {
	return dir[0] == '.' || dir[0] == '_' || dir == "node_modules" || dir == "vendor"
}

func counts(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	return slices.Contains([]string{".go", ".yaml", ".sql", ".proto", ".avsc", ".mod"}, filepath.Ext(name))
}

// changed waits until a file is not as it was seen, and no file changes any more, and names it
// from the root; "" if ctx ends before.
func (w watch) changed(ctx context.Context, seen map[string]string) string {
	for {
		if !pause(ctx, lookEvery) {
			return ""
		}
		now := w.now()
		if maps.Equal(seen, now) {
			continue
		}
		path := difference(seen, now)
		for still := now; ; now = still {
			if !pause(ctx, settled) {
				return ""
			}
			if still = w.now(); maps.Equal(now, still) {
				break
			}
		}
		if short, err := filepath.Rel(w.roots[0], path); err == nil {
			return short
		}
		return path
	}
}

// difference is the first path that is in one of both only, or not the same.
func difference(a, b map[string]string) string {
	var paths []string
	for path, is := range a {
		if b[path] != is {
			paths = append(paths, path)
		}
	}
	for path := range b {
		if _, in := a[path]; !in {
			paths = append(paths, path)
		}
	}
	return slices.Min(paths)
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
