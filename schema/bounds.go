package schema

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// A spec is input from a stranger. What takes more than this is refused before it is looked at, so
// that no file takes more than about a second, or 200 MiB.
const (
	maxEntries = 1_000  // of one map or list
	maxValues  = 50_000 // of a file: texts, maps and lists, keys included
)

const boundsHint = "a spec is written by hand: is this the right file?"

// checkBounds refuses a file that holds too much (E103). The first place that does is reported.
func checkBounds(root *yaml.Node, file string, ds *Diagnostics) bool {
	values := 0
	var walk func(n *yaml.Node) bool
	walk = func(n *yaml.Node) bool {
		refuse := func(at *yaml.Node, message string) bool {
			ds.Add(Pos{Line: at.Line, Col: at.Column, Width: 1, File: file}, "E103", message, boundsHint)
			return false
		}
		if values++; values > maxValues {
			return refuse(n, fmt.Sprintf("the file holds more than %d values", maxValues))
		}
		entry, most := 1, maxEntries
		if n.Kind == yaml.MappingNode {
			entry = 2
		}
		if len(n.Content) > most*entry {
			return refuse(n.Content[most*entry], fmt.Sprintf("a map or list has at most %d entries, and here are %d", most, len(n.Content)/entry))
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
