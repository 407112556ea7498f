package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// module are the sources of this module. All tests read them once.
var module = plant.Read(filepath.Join("..", ".."))

// A bug that is not planted is not caught either: each must find its place, once.
func TestEveryBugFindsItsPlace(t *testing.T) {
	for _, m := range all() {
		if _, err := module.Apply(m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// Every bug names one test in full, which exists in its package; no two bugs share a name.
func TestEveryBugNamesItsTest(t *testing.T) {
	names, heads := map[string]bool{}, map[string]string{}
	for _, m := range all() {
		if names[m.name] {
			t.Errorf("two bugs are called %q", m.name)
		}
		names[m.name] = true
		if !strings.HasPrefix(m.pkg, "./") {
			t.Errorf("%s: package %s is none of this module: begin it with ./", m.name, m.pkg)
		}
		if heads[m.pkg] == "" {
			heads[m.pkg] = tests(t, m.pkg)
		}
		test, _, _ := strings.Cut(m.test, "/")
		if !strings.Contains(heads[m.pkg], "func "+test+"(t *testing.T)") {
			t.Errorf("%s: %s has no test %q; write its full name", m.name, m.pkg, test)
		}
	}
}

// Plain bugs are drawn. They are planted only where the protocol, a verdict or a handler depends
// on them, or docs/protocol.md lists them.
func TestPlainBugsArePlantedOnlyInTheProtocol(t *testing.T) {
	protocol := regexp.MustCompile(`^runtime/(internal/(engine|verdict|handler|effect|pglease)|redislease|outbox)/`)
	for _, m := range all() {
		files, err := module.Apply(m.edits)
		for path := range files {
			if err == nil && m.edits.Plain() && !bugNumber.MatchString(m.name) && !protocol.MatchString(path) {
				t.Errorf("%s: %s: leave this bug to -draw", path, m.name)
			}
		}
	}
}

var (
	bugNumber = regexp.MustCompile(`^\d+ `)
	numberRow = regexp.MustCompile(`(?m)^\| (\d+(?:, \d+)*) \|`)
)

// Bugs have the numbers of docs/protocol.md, which lists no other ones.
func TestNumbersOfBugsAreThoseOfTheProtocol(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	planted, listed := map[string]bool{}, map[string]bool{}
	for _, m := range all() {
		if number := bugNumber.FindString(m.name); number != "" {
			planted[strings.TrimSpace(number)] = true
		}
	}
	for _, row := range numberRow.FindAllStringSubmatch(string(page), -1) {
		for number := range strings.SplitSeq(row[1], ", ") {
			if listed[number] = true; !planted[number] {
				t.Errorf("docs/protocol.md lists bug %s, which is not planted", number)
			}
		}
	}
	for number := range planted {
		if !listed[number] {
			t.Errorf("docs/protocol.md does not list bug %s", number)
		}
	}
}

var testFuncs = regexp.MustCompile(`(?m)^func Test\w+\(t \*testing\.T\)`)

// tests are the heads of a package's tests.
func tests(t *testing.T, pkg string) string {
	files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, testFuncs.FindAllString(string(src), -1)...)
	}
	return strings.Join(heads, "\n")
}
