package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemgen/idemgen/scripts/mutants/plant"
)

// shop is a module with a bug to plant.
var shop = map[string]string{
	"till/till.go":       "package till\n\nfunc Sum(a, b int) int { return a + b }\n",
	"till/other.go":      "package till\n\nconst other = 1\n",
	"till/sum_test.go":   "package till\n\nfunc TestSum(t *testing.T) {}\n",
	"till/other_test.go": "package till\n\nfunc TestSums(t *testing.T) {}\n",
}

var sumBug = mutant{"sum", in("till", "Sum").Replace(`a + b`, `a - b`), "./till", "TestSum/case"}

// fingerprintIn takes a bug's fingerprint in a module with these files, some of them changed.
func fingerprintIn(t *testing.T, m mutant, changed map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, src := range shop {
		if now, ok := changed[path]; ok {
			src = now
		}
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := newFingerprinter(root, plant.Read(root)).of(m)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestFingerprintFollowsWhatTheVerdictDependsOn(t *testing.T) {
	before := fingerprintIn(t, sumBug, nil)
	with := func(path, more string) map[string]string {
		return map[string]string{path: shop[path] + more}
	}
	for name, test := range map[string]struct {
		bug     mutant
		changed map[string]string
		same    bool
	}{
		"nothing":            {bug: sumBug, same: true},
		"another file":       {bug: sumBug, changed: with("till/other.go", "// more\n"), same: true},
		"another test file":  {bug: sumBug, changed: with("till/other_test.go", "// x\n"), same: true},
		"the bug's name":     {bug: mutant{"sums", sumBug.edits, sumBug.pkg, sumBug.test}, same: true},
		"the planted file":   {bug: sumBug, changed: with("till/till.go", "// more\n")},
		"the test's file":    {bug: sumBug, changed: with("till/sum_test.go", "// more\n")},
		"the package's name": {bug: mutant{"sum", sumBug.edits, "./till/", sumBug.test}},
		"the test's name":    {bug: mutant{"sum", sumBug.edits, sumBug.pkg, "TestSum/other"}},
		"an edit":            {bug: sumWith(in("till", "Sum").Replace(`a + b`, `b - a`))},
		"an edit's pattern":  {bug: sumWith(in("till", "Sum").Replace(`a + _`, `a - b`))},
		"an edit's place":    {bug: sumWith(in(".", "Sum").Replace(`a + b`, `a - b`))},
		"an edit's kind":     {bug: sumWith(in("till", "Sum").Text(`a + b`, `a - b`))},
		"one more edit":      {bug: sumWith(sumBug.edits.Declare(`const c = 1`))},
	} {
		t.Run(name, func(t *testing.T) {
			if same := fingerprintIn(t, test.bug, test.changed) == before; same != test.same {
				t.Errorf("the fingerprint is the same: %t, want %t", same, test.same)
			}
		})
	}
}

// sumWith is sumBug with other edits.
func sumWith(edits plant.Edits) mutant {
	return mutant{sumBug.name, edits, sumBug.pkg, sumBug.test}
}

// Every bug can be recorded, under a hash of its own if it is another bug.
func TestEveryBugHasAFingerprint(t *testing.T) {
	p := newFingerprinter(filepath.Join("..", ".."), module)
	for _, m := range all() {
		if _, err := p.of(m); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
