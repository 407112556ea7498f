package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)"\s]+)[)"]`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	spoken  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// everyPage are the pages that a visitor of the repository can read.
func everyPage(t *testing.T) []string {
	t.Helper()
	return glob(t, "../../*.md", "../../llms.txt", "../../docs/*.md", "../../.github/*.md", "../../runtime/*.md", "../../examples/*/README.md")
}

// A link of a page leads to a file that exists, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range everyPage(t) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, page), ""), -1) {
			to, part, _ := strings.Cut(strings.TrimPrefix(m[1], "https://github.com/idemgen/idemgen/blob/main/"), "#")
			if strings.Contains(to, "://") {
				continue
			}
			links++
			file := page
			switch {
			case to != "" && to != m[1] && strings.HasPrefix(m[1], "https:"):
				file = filepath.Join("../..", to)
			case to != "":
				file = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
			} else if part != "" && !slices.Contains(headings(read(t, file)), part) {
				t.Errorf("%s: %s: no heading of that name", page, m[1])
			}
		}
	}
	if links < 300 {
		t.Errorf("%d links only", links)
	}
}

// headings are the names by which links lead to the headings of a page.
func headings(page string) (all []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		name := strings.ReplaceAll(strings.ToLower(spoken.ReplaceAllString(link.ReplaceAllString(m[1], "]"), "")), " ", "-")
		if n := seen[name]; n > 0 {
			all = append(all, name+"-"+string(rune('0'+n)))
		} else {
			all = append(all, name)
		}
		seen[name]++
	}
	return all
}

// Both indexes, for people and for language models, name each page, and the former each example.
func TestIndexesNameEachPage(t *testing.T) {
	index, forModels := read(t, "../../docs/index.md"), read(t, "../../llms.txt")
	for _, page := range glob(t, "../../docs/*.md") {
		name := filepath.Base(page)
		if name != "index.md" && !strings.Contains(index, "("+name) {
			t.Errorf("docs/index.md does not name %s", name)
		}
		if !strings.Contains(forModels, "(docs/"+name+")") {
			t.Errorf("llms.txt does not name %s", name)
		}
	}
	for _, example := range glob(t, "../../examples/*") {
		if !strings.Contains(index, "(../examples/"+filepath.Base(example)+")") {
			t.Errorf("docs/index.md does not name %s", example)
		}
	}
}

// No file names the host of a package registry: packages come through their ordinary clients,
// which each machine has set up its own way.
func TestNoFileNamesARegistry(t *testing.T) {
	host := regexp.MustCompile(`registry\.npmjs|\brepo1?\.maven|proxy\.golang|sum\.golang|\bpypi\.org|registry-1\.docker`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir() || filepath.Base(path) == "links_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		if found := host.Find(text); found != nil {
			t.Errorf("%s names %s", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
