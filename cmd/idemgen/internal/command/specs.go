package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// FindSpecs returns the specs that the arguments name, in their order, each once. Paths
// stay as they were given.
func FindSpecs(args []string) ([]generator.Spec, error) {
	if len(args) == 0 {
		args = []string{generator.SpecFile}
	}
	var paths []string
	for _, arg := range args {
		found, err := specsOf(filepath.FromSlash(arg))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	var specs []generator.Spec
	var seen []string
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if slices.Contains(seen, abs) {
			continue
		}
		seen = append(seen, abs)
		content, err := ReadSpec(path)
		if err != nil {
			return nil, specMissing(path, err)
		}
		specs = append(specs, generator.Spec{Path: filepath.ToSlash(path), Content: content})
	}
	return specs, nil
}

// ReadSpec reads a spec, and of one that is too large as much as tells that.
func ReadSpec(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a regular file", filepath.ToSlash(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, syntax.MaxFileSize+1))
}

// specsOf returns the spec files that one argument names.
func specsOf(arg string) ([]string, error) {
	if arg == "" {
		return nil, errors.New("an argument is empty: name a spec or its folder")
	}
	if dir, ok := strings.CutSuffix(arg, "..."); ok && (dir == "" || os.IsPathSeparator(dir[len(dir)-1])) {
		return below(filepath.Clean(dir + "."))
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return nil, specMissing(arg, err)
	case info.IsDir():
		return []string{filepath.Join(arg, generator.SpecFile)}, nil
	}
	return []string{arg}, nil
}

// below returns every idemgen.yaml in dir and below, sorted.
func below(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && passedOver(path, entry.Name()):
			return fs.SkipDir
		case !entry.IsDir() && entry.Name() == generator.SpecFile:
			found = append(found, path)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no %s in %s or below", generator.SpecFile, filepath.ToSlash(dir))
	}
	return found, err
}

// passedOver reports whether a folder's specs are not part of dir/..., as the go command
// passes over its packages.
func passedOver(path, name string) bool {
	if name[0] == '.' || name[0] == '_' || name == "vendor" || name == "testdata" || name == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func specMissing(path string, err error) error {
	if os.IsNotExist(err) {
		if found, err := below(filepath.Dir(path)); err == nil && filepath.Base(path) == generator.SpecFile {
			return fmt.Errorf("%s: no such spec; below there %s", filepath.ToSlash(path), elsewhere(found))
		}
		return fmt.Errorf("%s: no such spec; idemgen init writes a first one", filepath.ToSlash(path))
	}
	return err
}

// mostFound is how many specs an error names.
const mostFound = 5

// elsewhere says which specs there are in other folders, and how a command takes them.
func elsewhere(found []string) string {
	var names []string
	for _, path := range found[:min(len(found), mostFound)] {
		names = append(names, filepath.ToSlash(path))
	}
	more := ""
	if n := len(found) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	dir := filepath.ToSlash(filepath.Dir(found[0]))
	if len(found) == 1 {
		return fmt.Sprintf("is %s: name its folder, as in idemgen generate %s", names[0], dir)
	}
	return fmt.Sprintf("are %s%s: name a folder, as in idemgen generate %s, or all of them: idemgen generate ./...", strings.Join(names, ", "), more, dir)
}

// SpecFolder is the folder of a spec, in which the spec has its usual name, whatever its own is.
func SpecFolder(path string) fs.FS {
	dir, name := filepath.Split(filepath.FromSlash(path))
	if dir == "" {
		dir = "."
	}
	return renamed{os.DirFS(dir), name}
}

type renamed struct {
	fs.FS
	spec string
}

func (r renamed) Open(name string) (fs.File, error) {
	if name == "idemgen.yaml" {
		name = r.spec
	}
	return r.FS.Open(name)
}
