package evolution

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// toldBefore are keys whose changes the comparison tells before it looks at keys.
var toldBefore = []string{"consumer", "topics.NAME.name"}

// A key of the language that is new or gone has a meaning: its own, or that of a key above it. If
// neither has one, the states of two versions must say it, and the key is told before.
func TestEveryKeyHasAMeaning(t *testing.T) {
	c := comparison{old: Version{Service: &model.Service{}}, now: Version{Service: &model.Service{}}}
	var keys, unknown []string
	eachKey(syntax.Shape{Section: new(syntax.Language())}, nil, func(path []string, value *syntax.Node) {
		keys = append(keys, strings.Join(path, "."))
		for _, e := range slices.Concat(edits(path, nil, value), edits(path, value, nil)) {
			if v, _ := c.judge(e); v == NotKnown && !slices.Contains(unknown, strings.Join(path, ".")) {
				unknown = append(unknown, strings.Join(path, "."))
			}
		}
	})
	if !slices.Equal(unknown, toldBefore) {
		t.Errorf("nothing says what a change means of %q, but of %q", unknown, toldBefore)
	}
	if len(keys) < 100 {
		t.Errorf("%d keys only: %q", len(keys), keys)
	}
}

// eachKey calls f with the path of each key of a shape, except maps that every spec has: each of
// their entries is new or gone. NAME stands for a name of the user's choice.
func eachKey(s syntax.Shape, path []string, f func(path []string, value *syntax.Node)) {
	text := &syntax.Node{Kind: syntax.ScalarNode, Text: "a"}
	if s.Section != nil {
		for _, k := range s.Section.Keys {
			at := append(slices.Clone(path), k.Name)
			switch {
			case k.Shape.Entries == nil:
				f(at, text)
			case !k.Required:
				f(at, &syntax.Node{Kind: syntax.MapNode, Pairs: []syntax.Pair{{Key: "NAME", Value: text}}})
			}
			eachKey(k.Shape, at, f)
		}
	}
	if s.Entries != nil {
		eachKey(*s.Entries, append(slices.Clone(path), "NAME"), f)
	}
	for _, form := range s.Or {
		eachKey(form, path, f)
	}
}
