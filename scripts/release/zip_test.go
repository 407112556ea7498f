package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	mostBytes = 3800 << 10 // of the zip, which each service downloads
	mostOfOne = 300 << 10  // of one of its files
)

// tracked is a file that Git has, or would take.
type tracked struct{ root, name string }

func (f tracked) Path() string                 { return f.name }
func (f tracked) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f tracked) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

// unzipped makes the zip of the module from the files as they are, and returns its size and the
// folder of what it holds.
func unzipped(t *testing.T) (size int64, dir string) {
	t.Helper()
	const root = "../.."
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("only Git knows which files a release has: ", err)
	}
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range bytes.SplitSeq(list, []byte{0}) {
		if _, err := os.Lstat(filepath.Join(root, string(name))); err == nil && len(name) > 0 {
			files = append(files, tracked{root, string(name)})
		}
	}
	of := module.Version{Path: path, Version: "v0.1.0"}
	archive := filepath.Join(t.TempDir(), "module.zip")
	out, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.Create(out, of, files); err != nil {
		t.Fatal(err)
	}
	info, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "module")
	if err := zip.Unzip(dir, of, archive); err != nil {
		t.Fatal(err)
	}
	return info.Size(), dir
}

// folders and kinds are what the module is made of. Nothing else is in its zip.
var (
	folders = strings.Fields(".ci .github cmd deploy docs examples generator internal runtime schema templates")
	kinds   = strings.Fields(".css .go .html .js .json .jsonl .md .mod .sql .sum .svg .tmpl .txt .yaml .yml")
	others  = strings.Fields(".ci/run .gitattributes .gitignore LICENSE Makefile go.work")
)

// What a user downloads is small, and nothing of it is there for this repository's tests alone.
func TestTheZipHasNoStrayFiles(t *testing.T) {
	size, dir := unzipped(t)
	if t.Logf("%d bytes", size); size > mostBytes {
		t.Errorf("the zip has %d bytes, more than %d", size, mostBytes)
	}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		top, _, below := strings.Cut(name, "/")
		if below && !slices.Contains(folders, top) || !slices.Contains(kinds, filepath.Ext(name)) && !slices.Contains(others, name) && !strings.Contains(name, "/testdata/") {
			t.Errorf("%s has no place in the zip", name)
		}
		if info, err := d.Info(); err != nil || info.Size() > mostOfOne {
			t.Errorf("%s: more than %d bytes, or %v", name, mostOfOne, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The module compiles as it is in the zip, without go.work and the modules beside it.
func TestTheZipCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by go test -short")
	}
	_, dir := unzipped(t)
	cmd := exec.CommandContext(t.Context(), "go", "build", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "-C", dir, "mod", "tidy", "-diff").CombinedOutput(); err != nil {
		t.Errorf("go.mod is not tidy: %v\n%s", err, out)
	}
}
