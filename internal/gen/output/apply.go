package output

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Apply makes the changes. Every new content is first written to a file beside its
// target; only when all of them are complete are they renamed, one atomic step each. So
// a folder that cannot be written leaves everything as it was.
func Apply(changes []Change) error {
	var s staging
	for i := range changes {
		if changes[i].Op == Remove {
			continue
		}
		if err := s.write(&changes[i]); err != nil {
			return errors.Join(fmt.Errorf("nothing was written: %w", err), s.undo())
		}
	}
	for len(s.files) > 0 {
		if err := s.files[0].commit(); err != nil {
			s.made = nil // others may be in use by now
			return errors.Join(err, s.undo())
		}
		s.files = s.files[1:]
	}
	var errs []error
	for _, c := range changes {
		if c.Op != Remove {
			continue
		}
		in, err := c.folder.local(c.name)
		if err == nil {
			err = c.folder.root.Remove(in)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // two specs may write to one folder
			errs = append(errs, c.folder.failed(c.name, err))
		}
	}
	return errors.Join(errs...)
}

// staging is what was put on disk and is not yet in force.
type staging struct {
	files []staged
	made  []madeDir
}

// tempNames is the pattern of the names of files that are not yet renamed.
const tempNames = ".idemgen-*.tmp"

type staged struct {
	change   *Change
	temp, in string // relative to the repository
}

type madeDir struct {
	folder *Folder
	dir    string
}

// write writes the new content of c beside its target.
func (s *staging) write(c *Change) error {
	in, err := c.folder.local(c.name)
	if err != nil {
		return err
	}
	if err := s.mkdir(c.folder, filepath.Dir(in)); err != nil {
		return c.folder.failed(path.Dir(c.name), err)
	}
	temp := filepath.Join(filepath.Dir(in), strings.Replace(tempNames, "*", strconv.FormatUint(rand.Uint64(), 36), 1))
	file, err := c.folder.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, c.mode)
	if err != nil {
		return c.folder.failed(c.name, err)
	}
	s.files = append(s.files, staged{c, temp, in})
	_, err = file.Write(c.new)
	if c.Op == Replace && err == nil { // the umask does not count for a file that was there
		err = file.Chmod(c.mode)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return c.folder.failed(c.name, err)
	}
	return nil
}

// mkdir makes dir and its parents, and remembers which of them are new.
func (s *staging) mkdir(f *Folder, dir string) error {
	_, err := f.root.Stat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.mkdir(f, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := f.root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	s.made = append(s.made, madeDir{f, dir})
	return nil
}

func (f staged) commit() error {
	if err := f.change.folder.root.Rename(f.temp, f.in); err != nil {
		return f.change.folder.failed(f.change.name, err)
	}
	return nil
}

// undo removes what write and mkdir made.
func (s *staging) undo() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.change.folder.root.Remove(f.temp))
	}
	for _, d := range slices.Backward(s.made) {
		errs = append(errs, d.folder.root.Remove(d.dir))
	}
	return errors.Join(errs...)
}
