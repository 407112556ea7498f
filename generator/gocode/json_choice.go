package gocode

import (
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// offer is a member that is one of several where a field may be.
type offer struct {
	field   *model.Field
	rank    int    // from 1: the lowest that is there counts
	missing string // of the first: what the field is called if none is there; "" = it may be
}

// choose offers a field the members of all its paths.
func (d *decoder) choose(root *node, f *model.Field, required bool) {
	d.choices = append(d.choices, f)
	for i, path := range f.Source.Paths() {
		o := offer{field: f, rank: i + 1}
		if i == 0 && required {
			o.missing = strings.Join(path, ".")
		}
		n := d.at(root, path)
		n.offers = append(n.offers, o)
	}
}

func (d *decoder) declareChoices(g *group) {
	if len(d.choices) == 0 {
		return
	}
	var names []string
	for _, f := range d.choices {
		names = append(names, f.GoName)
	}
	g.Add(text("var first struct {" + flagList(names) + " ").Add(strictjson("Choice")).Add(text(" }")))
}

func (o offer) write(g *group) {
	g.Add(strictjson("Offer").Call(text("s"), text("&first.%s", o.field.GoName), lit(o.rank)))
}

// take reads the fields whose first path leads to the node.
func (n *node) take(g *group, read func(*group, *model.Field)) {
	for _, o := range n.offers {
		if o.rank == 1 {
			g.For(strictjson("Take").Call(text("s"), text("&first.%s", o.field.GoName), lit(o.missing))).BlockFunc(func(g *group) { read(g, o.field) })
		}
	}
}
