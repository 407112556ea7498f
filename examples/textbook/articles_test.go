package textbook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page of the recipes names each test of this package that plays one, with its file.
func TestArticlesNameTheTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/articles.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	function, here := regexp.MustCompile(`(?m)^func (Test\w+)\(`), map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			here["`"+m[1]+"`, "+file] = true
			if generated := strings.HasPrefix(file, "idem_"); !generated && m[1] != t.Name() && !strings.Contains(string(page), "`"+m[1]+"`, "+file) {
				t.Errorf("docs/articles.md does not name %s, %s", m[1], file)
			}
		}
	}
	for _, named := range regexp.MustCompile("`Test\\w+`, \\w+\\.go").FindAllString(string(page), -1) {
		if !here[named] {
			t.Errorf("docs/articles.md names %s, which does not exist", named)
		}
	}
}
