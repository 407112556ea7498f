package main

import (
	"strings"
	"testing"
)

const (
	libraryText  = "version: 1\ntypes:\n  Line: {fields: {sku: string}}\n"
	importerText = `version: 1
consumer: NAME
package: NAME
import: {shared: ../shared/shop.yaml}
topics:
  t:
    idempotency_key: {source: {header: id}, window: 8d}
    events:
      Bought: {fields: {lines: list(shared.Line)}, handle: true}
`
)

// importers writes a library and two services that import it.
func importers(t *testing.T, library string) {
	t.Helper()
	files := map[string]string{"shared/shop.yaml": library}
	for _, name := range []string{"one", "two"} {
		files[name+"/idemgen.yaml"] = strings.ReplaceAll(importerText, "NAME", name)
	}
	module(t, files)
}

// A problem of a library is told in its file, and once, however many specs import it.
func TestAProblemOfALibraryIsToldOnce(t *testing.T) {
	importers(t, strings.Replace(libraryText, "string", "strng", 1))
	code, _, text := run(t, "check", "one", "two", "shared/shop.yaml")
	if code != trouble || strings.Count(text, "E208") != 1 || !strings.HasPrefix(text, "shared/shop.yaml:3:24: E208") || !strings.Contains(text, "\n1 problem found") {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

// A library alone is checked, and nothing is generated of it.
func TestALibraryAloneGeneratesNothing(t *testing.T) {
	importers(t, libraryText)
	code, stdout, text := run(t, "generate", "shared/shop.yaml")
	if code != done || stdout != "" || !strings.Contains(text, "shared/shop.yaml is a library") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, text)
	}
	if must(t, "generate", "one", "two"); !strings.Contains(read(t, "two/idem_gen.go"), "type Line struct") {
		t.Error("a package lacks the type of the library")
	}
}

// An import that leads out of the repository ends the run.
func TestAnImportStaysInTheRepository(t *testing.T) {
	importers(t, libraryText)
	edit(t, "one/idemgen.yaml", "../shared/shop.yaml", "../../shop.yaml")
	if code, _, text := run(t, "check", "one"); code != trouble || !strings.Contains(text, `one/idemgen.yaml:4: import "shared": ../shop.yaml is outside the repository`) {
		t.Errorf("exit code %d\n%s", code, text)
	}
}
