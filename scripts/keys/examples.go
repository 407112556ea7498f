package main

import (
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// spec is a spec whose lines are shown.
type spec struct {
	lines []string
	root  *yaml.Node
}

// readSpecs reads the specs in the docs, and then those of the examples and golden cases.
func readSpecs(root string) (specs []spec, err error) {
	pages, _ := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	for _, page := range pages {
		if filepath.Base(page) == "keys.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		for i, block := range strings.Split(string(text), "\n```") {
			if is, spec := strings.CutPrefix(block, "yaml\nversion: 1\n"); i > 0 && spec {
				specs = append(specs, newSpec("version: 1\n"+is))
			}
		}
	}
	for _, where := range []string{"examples/*/idemgen.yaml", "examples/*/*/idemgen.yaml", "testdata/golden/accepted/*/idemgen.yaml", "bench/*/idemgen.yaml"} {
		files, _ := filepath.Glob(filepath.Join(root, where))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			specs = append(specs, newSpec(string(text)))
		}
	}
	return specs, nil
}

func newSpec(text string) spec {
	var document yaml.Node
	s := spec{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	if yaml.Unmarshal([]byte(text), &document) == nil { // a test holds all of them against the schema
		s.root = document.Content[0]
	}
	return s
}

// place is where a key stands in a spec.
type place struct {
	spec       *spec
	key, value *yaml.Node
}

// examples finds the keys of all specs, by their place in the JSON Schema.
func (s jsonSchema) examples(specs []spec) map[string][]place {
	found := map[string][]place{}
	var walk func(in *spec, n node, at string, is *yaml.Node)
	walk = func(in *spec, n node, at string, is *yaml.Node) {
		n, at = s.resolved(n, at)
		for _, of := range n.AnyOf {
			walk(in, of, at, is)
		}
		if is.Kind == yaml.SequenceNode && n.Items != nil {
			for _, item := range is.Content {
				walk(in, *n.Items, at+".*", item)
			}
		}
		if is.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i < len(is.Content); i += 2 {
			name, value := is.Content[i], is.Content[i+1]
			if p := n.property(name.Value); p != nil {
				found[at+"."+name.Value] = append(found[at+"."+name.Value], place{in, name, value})
				walk(in, *p, at+"."+name.Value, value)
			} else if n.Additional.node != nil {
				walk(in, *n.Additional.node, at+".*", value)
			}
		}
	}
	for i := range specs {
		if specs[i].root != nil {
			walk(&specs[i], s.node, "", specs[i].root)
		}
	}
	return found
}

func (n node) property(name string) *node {
	for i := range n.Properties {
		if n.Properties[i].name == name {
			return &n.Properties[i].node
		}
	}
	return nil
}

// How much of a spec an example shows.
const (
	mostLines = 6
	mostWide  = 96
)

// example is the first place that is short enough, else the beginning of the first one.
func example(places []place) string {
	for _, p := range places {
		if lines := p.lines(); len(lines) <= mostLines && widest(lines) <= mostWide {
			return strings.Join(lines, "\n")
		}
	}
	return strings.Join(append(places[0].lines()[:mostLines-1], "# ..."), "\n")
}

// lines are those of the key and its value, moved to the left.
func (p place) lines() (lines []string) {
	from := p.spec.lines[p.key.Line-1]
	indent := len(from) - len(strings.TrimLeft(from, " "))
	for _, line := range p.spec.lines[p.key.Line-1 : lastLine(p.value)] {
		if rest := strings.TrimLeft(line, " "); len(line)-len(rest) >= indent {
			line = line[indent:]
		}
		lines = append(lines, line)
	}
	return lines
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, below := range n.Content {
		last = max(last, lastLine(below))
	}
	return last
}

func widest(lines []string) (n int) {
	for _, line := range lines {
		n = max(n, len(line))
	}
	return n
}
