package syntax

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// problem is a problem as it is printed, with the line it is about and its hint.
var problem = regexp.MustCompile(`(?m)^\S+:\d+:\d+: (E\d+): .*\n(?:    ? .*\n)*`)

// codesIn returns the codes of problems that the packages in folders name.
func codesIn(t *testing.T, patterns ...string) map[string]bool {
	t.Helper()
	codes := map[string]bool{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") {
				for _, code := range regexp.MustCompile(`"E\d{3}"`).FindAllString(string(source), -1) {
					codes[strings.Trim(code, `"`)] = true
				}
			}
		}
	}
	return codes
}

// Of the problems of refused specs and cases, this package finds those whose codes only it has,
// and none that is not in expected.txt.
func TestRefusedSpecs(t *testing.T) {
	own, others := codesIn(t, "*.go"), codesIn(t, "../resolve/*.go", "../resolve/*/*.go", "../../../generator/*.go", "../../proof/cases/*.go")
	folders, err := filepath.Glob("../../../testdata/golden/refused/*")
	if err != nil || len(folders) < 100 {
		t.Fatal(folders, err)
	}
	for _, dir := range folders {
		expected, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
		if err != nil {
			t.Fatal(err)
		}
		cases, err := filepath.Glob(filepath.Join(dir, "testdata", "cases", "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var found strings.Builder
		for _, file := range append(cases, filepath.Join(dir, "idemgen.yaml")) {
			content, err := os.ReadFile(file)
			if os.IsNotExist(err) { // several specs
				continue
			}
			name, wrong := filepath.Rel(dir, file)
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			var problems Diagnostics
			if name == "idemgen.yaml" {
				_, problems = Load(name, content)
			} else {
				_, problems = LoadCase(name, content)
			}
			if err := problems.Print(&found, name, content); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range problem.FindAllString(found.String(), -1) {
			if !strings.Contains(string(expected), p) {
				t.Errorf("%s: not expected:\n%s", filepath.Base(dir), p)
			}
		}
		for _, p := range problem.FindAllStringSubmatch(string(expected), -1) {
			its := strings.HasPrefix(p[0], "idemgen.yaml:") || strings.HasPrefix(p[0], "testdata/cases/")
			if its && own[p[1]] && !others[p[1]] && !strings.Contains(found.String(), p[0]) {
				t.Errorf("%s: not found:\n%s", filepath.Base(dir), p[0])
			}
		}
	}
}
