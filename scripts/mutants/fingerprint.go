package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// fingerprinter takes fingerprints of bugs. A fingerprint is a hash of the bug's edits, of the
// files that they change, of the names of its package and test, and of the files that declare
// the test. It does not cover what else the test runs through: for that, all bugs are played
// from time to time.
type fingerprinter struct {
	root    string
	sources *plant.Sources
	tests   map[string][][]byte // test files, by package
}

func newFingerprinter(root string, sources *plant.Sources) *fingerprinter {
	return &fingerprinter{root, sources, map[string][][]byte{}}
}

// of returns a bug's fingerprint. A bug that cannot be planted has none, and neither has one
// without a test.
func (p *fingerprinter) of(m mutant) (string, error) {
	changed, err := p.sources.Apply(m.edits)
	if err != nil {
		return "", err
	}
	tests, err := p.declaring(m)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	add(h, []byte(m.edits.String()), []byte(m.pkg), []byte(m.test))
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		add(h, p.sources.Source(path))
	}
	add(h, tests...)
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// add adds parts to a hash, so that other parts have another hash.
func add(h hash.Hash, parts ...[]byte) {
	for _, part := range parts {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
}

// declaring returns the test files that declare a bug's test.
func (p *fingerprinter) declaring(m mutant) ([][]byte, error) {
	files, err := p.testFiles(m.pkg)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(m.test, "/")
	head := []byte("\nfunc " + name + "(")
	var list [][]byte
	for _, src := range files {
		if bytes.Contains(src, head) {
			list = append(list, src)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("%s has no %s", m.pkg, name)
	}
	return list, nil
}

// testFiles reads a package's test files once.
func (p *fingerprinter) testFiles(pkg string) ([][]byte, error) {
	if files, ok := p.tests[pkg]; ok {
		return files, nil
	}
	paths, err := filepath.Glob(filepath.Join(p.root, pkg, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var files [][]byte
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, src)
	}
	p.tests[pkg] = files
	return files, nil
}
