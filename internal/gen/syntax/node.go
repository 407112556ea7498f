package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// NodeKind tells what a Node is.
type NodeKind int

// The kinds of a Node.
const (
	ScalarNode NodeKind = iota + 1
	MapNode
	ListNode
)

// Node is one value of a YAML file. A scalar is its text: nothing is read as a
// number, a bool or a date.
type Node struct {
	Kind   NodeKind
	Text   string // scalar
	Quoted bool   // scalar in quotes, or a block scalar
	Items  []*Node
	Pairs  []Pair // map, in file order; duplicate keys are all there
	Pos    Pos    // Width is that of a scalar or of a whole { } or [ ] on one line
	flow   bool   // map or list in { } or [ ]
}

// Pair is one entry of a map.
type Pair struct {
	Key    string
	KeyPos Pos
	Value  *Node
}

// null reports whether the value is missing: nothing, ~ or null, not in quotes.
func (n *Node) null() bool {
	if n.Kind != ScalarNode || n.Quoted {
		return false
	}
	switch n.Text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// Get returns the value of the first entry with that key, or nil.
func (n *Node) Get(key string) *Node {
	for _, p := range n.Pairs {
		if p.Key == key {
			return p.Value
		}
	}
	return nil
}

// Parse reads one YAML document under the file rules of docs/spec.md: UTF-8, at
// most 1 MiB, 64 levels, 1,000 entries of a map or list and 50,000 values, no anchors,
// aliases, merge keys or tags. It returns nil and at least one diagnostic if they are
// broken, and nil without one if the document is empty. It never panics.
func Parse(data []byte) (*Node, Diagnostics) { return parse(Diagnostics{}, data) }

// parse is Parse with problems that say which file it is, and what.
func parse(ds Diagnostics, data []byte) (*Node, Diagnostics) {
	if !checkEncoding(data, &ds) {
		return nil, ds
	}
	src := newSource(data)
	if !src.documents(&ds) {
		ds.maskLines(src)
		return nil, ds
	}
	root, err := parseYAML(data)
	if err != nil {
		yamlProblem(data, err, src, &ds)
		ds.unmerged(src)
		ds.maskLines(src)
		return nil, ds
	}
	if root.Kind == 0 || len(root.Content) == 0 {
		return nil, ds
	}
	if !checkBounds(root.Content[0], &ds) {
		ds.maskLines(src)
		return nil, ds
	}
	b := builder{source: src, ds: &ds}
	n := b.node(root.Content[0], 1)
	if n.Kind == ScalarNode && n.Text == "" && n.null() {
		n = nil
	}
	if len(ds.list) > 0 {
		ds.maskLines(src)
		return nil, ds
	}
	return n, ds
}

// parseYAML runs the parser and turns its panics into errors.
func parseYAML(data []byte) (root yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(&root); errors.Is(err, io.EOF) {
		return root, nil
	}
	if err == nil {
		// The decoder stops behind the first document; what follows must be nothing.
		var rest yaml.Node
		if err = d.Decode(&rest); err == nil {
			err = errors.New("yaml: did not find expected <document start>")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return root, err
}

// A spec is input from a stranger. What takes more than this is refused before it is looked at, so
// that no file takes more than about a second, or 200 MiB.
const (
	maxEntries = 1_000  // of one map or list
	maxValues  = 50_000 // of a file: texts, maps and lists, keys included
)

// boundsHint is for a file that is too large.
func boundsHint(ds *Diagnostics) string {
	return "a " + ds.noun() + " is written by hand: is this the right file?"
}

// checkBounds refuses a file that holds too much (E103). The first place that does is reported.
func checkBounds(root *yaml.Node, ds *Diagnostics) bool {
	values := 0
	var walk func(n *yaml.Node) bool
	walk = func(n *yaml.Node) bool {
		refuse := func(at *yaml.Node, message string) bool {
			ds.Add(Pos{Line: at.Line, Col: at.Column, Width: 1}, "E103", message, boundsHint(ds))
			return false
		}
		if values++; values > maxValues {
			return refuse(n, fmt.Sprintf("the file contains more than %d values", maxValues))
		}
		entry, most := 1, maxEntries
		if n.Kind == yaml.MappingNode {
			entry = 2
		}
		if len(n.Content) > most*entry {
			return refuse(n.Content[most*entry], fmt.Sprintf("a map or list can have at most %d entries, but this one has %d", most, len(n.Content)/entry))
		}
		for _, inner := range n.Content {
			if !walk(inner) {
				return false
			}
		}
		return true
	}
	return walk(root)
}

// builder turns yaml.v3's nodes into Nodes.
type builder struct {
	source
	ds    *Diagnostics
	alias alias // the last one
	deep  bool  // E103 is reported
}

func (ds *Diagnostics) tooDeep(pos Pos) {
	ds.Add(pos, "E103", "the file nests deeper than 64 levels", "no "+ds.noun()+" needs that: is a bracket left open above?")
}

func (b *builder) node(y *yaml.Node, depth int) *Node {
	n := &Node{
		Kind: ScalarNode, Pos: b.within(Pos{Line: y.Line, Col: y.Column, Width: 1}),
		flow: y.Style&yaml.FlowStyle != 0,
	}
	if depth > maxNesting && y.Kind != yaml.ScalarNode {
		if !b.deep {
			b.ds.tooDeep(n.Pos)
			b.deep = true
		}
		return n
	}
	b.properties(n.Pos)
	switch y.Kind {
	case yaml.ScalarNode:
		n.Text = y.Value
		n.Quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		n.Pos.Width = b.scalarWidth(n)
	case yaml.SequenceNode:
		n.Kind = ListNode
		var texts [][]*Node
		for _, item := range y.Content {
			n.Items = append(n.Items, b.node(item, depth+1))
			texts = append(texts, n.Items[len(n.Items)-1:])
		}
		n.Pos.Width = b.collectionWidth(n.Pos)
		if n.flow {
			b.cutTexts(ListNode, texts)
		}
	case yaml.MappingNode:
		n.Kind = MapNode
		n.Pos.Width = b.collectionWidth(n.Pos)
		var texts [][]*Node
		for i := 0; i+1 < len(y.Content); i += 2 {
			texts = append(texts, b.pair(n, y.Content[i], y.Content[i+1], depth))
		}
		if n.flow {
			b.cutTexts(MapNode, texts)
		}
	}
	return n
}

// pair reads an entry of a map, and returns its key and its value.
func (b *builder) pair(n *Node, key, value *yaml.Node, depth int) []*Node {
	k, v := b.node(key, depth+1), b.node(value, depth+1)
	if k.Kind != ScalarNode {
		b.ds.Add(k.Pos, "E106", "a key must be a string, not a "+k.Kind.word(), b.templateHint(k.Pos))
		return []*Node{k, v}
	}
	if k.Text == "<<" && !k.Quoted {
		b.ds.Add(k.Pos, "E102", "YAML merge keys are not allowed (<<)", sharedHint)
	}
	if n.Pos.Line == k.Pos.Line && n.Pos.Col == k.Pos.Col {
		n.Pos.Width = k.Pos.Width // a block map stands where its first key does
	}
	n.Pairs = append(n.Pairs, Pair{Key: k.Text, KeyPos: k.Pos, Value: v})
	return []*Node{k, v}
}

func (b *builder) templateHint(at Pos) string {
	if strings.HasPrefix(string(b.rest(at)), "{") {
		return "a string that contains { } must be in quotes; a " + b.ds.noun() + " has no templates"
	}
	return ""
}

// word names the kind in messages.
func (k NodeKind) word() string {
	switch k {
	case MapNode:
		return "map"
	case ListNode:
		return "list"
	}
	return "string"
}
