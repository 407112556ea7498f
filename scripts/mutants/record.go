package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// record is the file of the bugs that were caught. Processes may change it at the same time.
type record struct{ path string }

// line is a line of the record: a bug, and its fingerprint when it was caught.
type line struct{ hash, name string }

// lines are the lines of a record. A merge of two branches may leave two lines of one bug.
type lines map[line]bool

// head begins a record. A merge may take it in twice.
const head = `# The planted bugs that a test caught: the hash and the name of each. "make mutants"
# writes this file, and does not play a bug again as long as its hash is the one here.
# The hash covers the bug's edits, the files that it is planted in, the names of its test
# and of the test's package, and the file of the test.
`

func (r record) read() (lines, error) {
	src, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return lines{}, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := parseLines(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	return all, nil
}

var recordLine = regexp.MustCompile(`^([0-9a-f]{16}) (.+)$`)

func parseLines(src []byte) (lines, error) {
	all := lines{}
	scan := bufio.NewScanner(bytes.NewReader(src))
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		part := recordLine.FindStringSubmatch(text)
		if part == nil {
			return nil, fmt.Errorf("line %d is no hash and name: %q", n, text)
		}
		all[line{part[1], part[2]}] = true
	}
	return all, scan.Err()
}

// text is what a record's file holds. It depends on the lines only.
func (all lines) text() []byte {
	var out bytes.Buffer
	out.WriteString(head)
	byName := func(a, b line) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.hash, b.hash))
	}
	for _, l := range slices.SortedFunc(maps.Keys(all), byName) {
		fmt.Fprintf(&out, "%s %s\n", l.hash, l.name)
	}
	return out.Bytes()
}

// drop removes the lines of the names that f is true of.
func (all lines) drop(f func(name string) bool) {
	maps.DeleteFunc(all, func(l line, _ bool) bool { return f(l.name) })
}

// change changes the lines that the record has at that time. Who reads the file sees either all
// of the change or nothing of it.
func (r record) change(f func(lines)) error {
	return alone(filepath.Dir(r.path), func() error {
		all, err := r.read()
		if err != nil {
			return err
		}
		before := maps.Clone(all)
		if f(all); maps.Equal(all, before) {
			return nil
		}
		return replaceFile(r.path, all.text())
	})
}

// replaceFile puts a file in another's place.
func replaceFile(path string, src []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(src)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
