package syntax

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A case is marked as broken if and only if something in it was refused, whichever of its values
// is of another kind.
func TestACaseIsBrokenIfAPartOfItIsRefused(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/golden/accepted/*/testdata/cases/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	refused, seen := 0, map[string]int{} // how often a place was tried, by its path
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if c, problems := LoadCase(file, data); c.Broken || problems.Errors() > 0 {
			t.Errorf("%s is broken", file)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		try := func(n *yaml.Node, place, other string) {
			was := *n
			defer func() { *n = was }()
			var is yaml.Node
			if err := yaml.Unmarshal([]byte(other), &is); err != nil {
				t.Fatal(err)
			}
			*n = *is.Content[0]
			text, err := yaml.Marshal(&doc)
			if err != nil {
				t.Fatal(err)
			}
			c, problems := LoadCase(file, text)
			if refused += problems.Errors(); c.Broken != (problems.Errors() > 0) {
				t.Errorf("%s: %s is %s: broken %v, %d problems", filepath.Base(file), place, other, c.Broken, problems.Errors())
			}
		}
		var each func(n *yaml.Node, path ...string)
		each = func(n *yaml.Node, path ...string) {
			place := strings.Join(path, ".")
			if seen[place]++; seen[place] <= 3 {
				for _, other := range []string{"~", "[]", "{}", "[x]", "{x: y}", "-1", "x"} {
					try(n, place, other)
				}
			}
			for i, child := range n.Content {
				switch {
				case n.Kind != yaml.MappingNode:
					each(child, append(slices.Clone(path), "-")...)
				case i%2 == 1:
					each(child, append(slices.Clone(path), n.Content[i-1].Value)...)
				}
			}
		}
		each(doc.Content[0])
	}
	if refused < 500 {
		t.Errorf("only %d problems", refused)
	}
}
