// Package joint compiles many bugs into one program. It keeps the source of each function that a
// bug changes, adds the changed one under another name, and makes the first call it if the
// environment chooses the bug. So a package is compiled once for all its bugs. It must not import
// anything of the module: it reads sources that may not compile.
package joint

import (
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const (
	// Variable chooses a bug by its number, in the environment of a program.
	Variable = "IDEMGEN_BUG"
	// Watch is a value of Variable that chooses no bug: the program appends the number of each bug
	// whose function it reaches to the file that Reached names.
	Watch = "-1"
	// Reached is the variable with the path of that file.
	Reached = "IDEMGEN_BUGS_REACHED"
)

// Set is a set of bugs, by number.
type Set struct {
	files map[string]*file // by path below the module's root
}

// New returns an empty set.
func New() *Set { return &Set{map[string]*file{}} }

// Sources are two texts of a file: without a bug, and with it.
type Sources struct{ Before, After []byte }

// Add adds a bug: the files that it changes, by their paths below the module's root. Numbers
// begin with 1. An error says why the bug must be compiled alone; the set stays as it was.
func (s *Set) Add(number int, changed map[string]Sources) error {
	var all []copied
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		these, err := compare(path, changed[path])
		if err != nil {
			return err
		}
		all = append(all, these...)
	}
	if len(all) == 0 {
		return fmt.Errorf("bug %d changes nothing", number)
	}
	for _, c := range all {
		f := s.files[c.path]
		if f == nil {
			f = &file{src: changed[c.path].Before, pkg: c.pkg}
			s.files[c.path] = f
		}
		f.add(number, c)
	}
	return nil
}

// Overlay writes the files of the module in root that the set changes into dir, and the go
// command's list of them, whose path it returns.
func (s *Set) Overlay(root, dir string) (string, error) {
	replace := map[string]string{}
	put := func(path string, src []byte) error {
		out := filepath.Join(dir, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		replace[filepath.Join(root, path)] = out
		return os.WriteFile(out, src, 0o644)
	}
	packages := map[string]string{} // names by directory
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[path]
		packages[filepath.Dir(path)] = f.pkg
		if err := put(path, f.text()); err != nil {
			return "", err
		}
	}
	for _, in := range slices.Sorted(maps.Keys(packages)) {
		if err := put(filepath.Join(in, "idemgen_bug.go"), chooser(packages[in])); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}

// chooser is the file of a package that says which bug is chosen.
func chooser(pkg string) []byte {
	return fmt.Appendf(nil, `package %s

import (
	"os"
	"strconv"
	"sync"
)

var idemgenBug, _ = strconv.Atoi(os.Getenv(%q))

var idemgenBugs sync.Map

// idemgenBugOf returns the number of the bug that is chosen. It notes that those of a function
// were reached.
func idemgenBugOf(numbers ...int) int {
	if idemgenBug > 0 {
		return idemgenBug
	}
	for _, n := range numbers {
		if _, known := idemgenBugs.LoadOrStore(n, true); known {
			continue
		}
		if f, err := os.OpenFile(os.Getenv(%q), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			_, _ = f.WriteString(strconv.Itoa(n) + "\n")
			_ = f.Close()
		}
	}
	return 0
}
`, pkg, Variable, Reached)
}

// insertion is text to be put into a source.
type insertion struct {
	from, to int // what it replaces
	text     string
}

// splice makes insertions, which must not overlap.
func splice(src []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, i := range all {
		out = append(append(out, src[at:i.from]...), i.text...)
		at = i.to
	}
	return append(out, src[at:]...)
}

// span is a place in a source.
type span struct{ from, to int }

func (f *parsed) span(from, to token.Pos) span {
	return span{f.set.Position(from).Offset, f.set.Position(to).Offset}
}
