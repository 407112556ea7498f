package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Folder is the folder of one spec. All files of the spec lie in the repository around
// it; nothing outside that is read or written, also not through symbolic links.
type Folder struct {
	root *os.Root
	abs  string // the repository, symbolic links resolved
	dir  string // the folder, slash-separated, relative to abs
	show string // the folder as it was given, slash-separated: the start of paths in messages
}

// Open opens the folder dir, which need not exist yet. The repository around it is the
// nearest folder upwards that holds .git, else the nearest that holds go.mod, else the
// folder itself.
func Open(dir string) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	missing := "."
	for { // resolve links of the part that exists
		real, err := filepath.EvalSymlinks(abs)
		if err == nil {
			abs = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || abs == filepath.Dir(abs) {
			return nil, err
		}
		missing = filepath.Join(filepath.Base(abs), missing)
		abs = filepath.Dir(abs)
	}
	repo := repository(abs)
	rel, err := filepath.Rel(repo, filepath.Join(abs, missing))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, abs: repo, dir: filepath.ToSlash(rel), show: filepath.ToSlash(filepath.Clean(dir))}, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// repository returns the repository around dir.
func repository(dir string) string {
	for _, sign := range []string{".git", "go.mod"} {
		for at := dir; ; at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, sign)); err == nil {
				return at
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return dir
}

// Show returns the path of a file for messages: name is relative to the folder, the
// result begins as the folder was given.
func (f *Folder) Show(name string) string { return path.Join(f.show, name) }

// Abs returns the absolute path of a file or folder, symbolic links of the folder
// resolved; name is slash-separated and relative to the folder.
func (f *Folder) Abs(name string) string {
	return filepath.Join(f.abs, filepath.FromSlash(path.Join(f.dir, name)))
}

// local returns name relative to the repository, or an error if it leads out of it.
func (f *Folder) local(name string) (string, error) {
	in := filepath.FromSlash(path.Join(f.dir, name))
	if path.IsAbs(name) || !filepath.IsLocal(in) {
		return "", fmt.Errorf("%s is outside the repository", f.Show(name))
	}
	return in, nil
}

// mostRead is the size in bytes of the largest file that is read. Nothing that idemgen writes, or
// that people write for it, comes near.
const mostRead = 64 << 20

// Read returns the content of a file in the folder. A missing file is fs.ErrNotExist. What is no
// regular file, or larger than 64 MiB, is not read.
func (f *Folder) Read(name string) ([]byte, error) {
	in, err := f.local(name)
	if err != nil {
		return nil, err
	}
	info, err := f.root.Stat(in)
	switch {
	case err != nil:
		return nil, f.failed(name, err)
	case !info.Mode().IsRegular() && !info.IsDir():
		return nil, fmt.Errorf("%s is not a regular file", f.Show(name))
	case info.Size() > mostRead:
		return nil, fmt.Errorf("%s is larger than 64 MiB: is this the right file?", f.Show(name))
	}
	data, err := f.root.ReadFile(in)
	if err != nil {
		return nil, f.failed(name, err)
	}
	return data, nil
}

// List returns the entries of a folder in the folder, sorted by name; none if there is no
// such folder.
func (f *Folder) List(name string) ([]fs.DirEntry, error) {
	in, err := f.local(name)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(in))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, f.failed(name, err)
	}
	return entries, nil
}

// failed says which file err is about, by the name that messages use.
func (f *Folder) failed(name string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	} else if at, ok := errors.AsType[*os.LinkError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", f.Show(name), err)
}
