package gocode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// node is a member of the document that fields are read from, or that leads to such.
type node struct {
	name     string
	seen     string // its flag: whether it was met
	required string // what it is called if it is missing; "" = it may be
	fields   []*model.Field
	children []*node
}

// tree sorts fields by their paths.
func (d *decoder) tree(place func(*model.Field) (path []string, required, ok bool)) *node {
	root := &node{}
	for _, f := range d.fields {
		path, required, ok := place(f)
		if !ok {
			continue
		}
		n := d.at(root, path)
		n.fields = append(n.fields, f)
		if n != root && required {
			n.required = strings.Join(path, ".")
		}
	}
	d.nameFlags()
	return root
}

// at finds or makes the node at a path.
func (d *decoder) at(n *node, path []string) *node {
	for _, name := range path {
		at := slices.IndexFunc(n.children, func(c *node) bool { return c.name == name })
		if at < 0 {
			at = len(n.children)
			n.children = append(n.children, &node{name: name})
			d.nodes = append(d.nodes, n.children[at])
		}
		n = n.children[at]
	}
	return n
}

// nameFlags names the flag of each member: after the field that is read from it, else after
// the member.
func (d *decoder) nameFlags() {
	used := map[string]bool{}
	for _, n := range d.nodes {
		if len(n.fields) > 0 {
			n.seen = n.fields[0].GoName
			used[n.seen] = true
		}
	}
	for _, n := range d.nodes {
		if n.seen == "" {
			n.seen = flagName(n.name)
			for used[n.seen] {
				n.seen += "2"
			}
			used[n.seen] = true
		}
	}
}
