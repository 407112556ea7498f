package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// Op is what Apply does to one file.
type Op string

// What Apply does to one file.
const (
	Create  Op = "create"
	Replace Op = "update"
	Remove  Op = "remove"
)

// Change is one file that is not on disk as it was rendered.
type Change struct {
	Op     Op
	Policy Policy
	Path   string // for messages, as the folder was given
	old    []byte
	new    []byte
	mode   fs.FileMode
	folder *Folder
	name   string // relative to the folder of the spec
}

// Compare returns what has to change so that folder holds files, in their order, then stale
// Owned files, then temporary files of an [Apply] that was killed. Nothing is written. All
// errors are reported together: a file in the way that is not ours, a changed migration, a path
// out of the repository.
func Compare(folder *Folder, files []File) ([]Change, error) {
	var changes []Change
	var errs []error
	for _, file := range files {
		c, err := folder.Compare(file)
		if err != nil {
			errs = append(errs, err)
		} else if c.Op != "" {
			changes = append(changes, c)
		}
	}
	stale, err := folder.stale(files)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	left, err := folder.leftBehind(files)
	return slices.Concat(changes, stale, left), err
}

// Compare returns the change that file needs; its Op is empty if there is none.
func (f *Folder) Compare(file File) (Change, error) {
	c := Change{
		Policy: file.Policy, Path: f.Show(file.Path),
		new: file.Data, mode: 0o644, folder: f, name: file.Path,
	}
	in, err := f.local(file.Path)
	if err != nil {
		return c, err
	}
	info, err := f.root.Lstat(in)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Op = Create
		return c, nil
	case err != nil:
		return c, f.failed(file.Path, err)
	case file.Policy == Scaffold:
		return c, nil
	case !info.Mode().IsRegular():
		return c, fmt.Errorf("%s is not a regular file: idemgen writes a file of this name", c.Path)
	}
	if c.old, err = f.Read(file.Path); err != nil || bytes.Equal(c.old, c.new) {
		return c, err
	}
	switch {
	case file.Policy == Ledger && bytes.Equal(unix(c.old), c.new): // SQL does not care, and it is never rewritten
		return c, nil
	case file.Policy == Ledger:
		return c, fmt.Errorf("%s exists with different content: idemgen never changes a migration", c.Path)
	case !Marked(c.old):
		return c, fmt.Errorf("%s was not written by idemgen, which would write a file of this name: move it away", c.Path)
	}
	c.Op, c.mode = Replace, info.Mode().Perm()
	return c, nil
}

// stale returns the removal of every Owned file that files no longer hold.
func (f *Folder) stale(files []File) ([]Change, error) {
	wanted := map[string]bool{}
	for _, file := range files {
		wanted[file.Path] = true
	}
	var dirs []string
	for _, pattern := range ownedNames {
		dirs = append(dirs, path.Dir(pattern))
	}
	var changes []Change
	for _, dir := range slices.Compact(dirs) {
		entries, err := f.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if wanted[name] || !e.Type().IsRegular() || !ownedName(name) {
				continue
			}
			c, err := f.removal(name)
			if err != nil {
				return nil, err
			}
			if Marked(c.old) {
				changes = append(changes, c)
			}
		}
	}
	return changes, nil
}

// removal is the change that removes a file.
func (f *Folder) removal(name string) (Change, error) {
	old, err := f.Read(name)
	return Change{Op: Remove, Policy: Owned, Path: f.Show(name), old: old, folder: f, name: name}, err
}

// inUse is how long a temporary file may belong to an Apply of another process.
const inUse = time.Minute

// leftBehind returns the removal of temporary files beside files.
func (f *Folder) leftBehind(files []File) ([]Change, error) {
	dirs := map[string]bool{}
	for _, file := range files {
		dirs[path.Dir(file.Path)] = true
	}
	var changes []Change
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		entries, err := f.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if ok, _ := path.Match(tempNames, e.Name()); !ok || !e.Type().IsRegular() {
				continue
			}
			info, err := e.Info()
			if err != nil || time.Since(info.ModTime()) < inUse {
				continue
			}
			c, err := f.removal(path.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			changes = append(changes, c)
		}
	}
	return changes, nil
}

func ownedName(name string) bool {
	for _, pattern := range ownedNames {
		if ok, _ := path.Match(pattern, name); ok { // the patterns are well-formed
			return true
		}
	}
	return false
}
