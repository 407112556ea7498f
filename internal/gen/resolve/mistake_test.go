package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// follow are the problems that may follow from a part that is missing, by its key: others cannot
// do without it.
var follow = map[string]string{
	"types": "E208", "assume": "E501", "by": "E601", "each": "E308", "effect": "E308", "result": "E308", "external": "E606",
	"idempotency_key": "E212", "source": "E212", "many": "E511", "tombstone": "E401", "OrderGone": "E401", "MailReceipt": "E208",
	"region": "E313", "order_id": "E313", "tenant": "E313", // parts of record keys, which lose their path
}

// A part of a spec that is null is one problem, at its place, and a text that nothing is called is
// one at most. What follows from it is not reported, except in the few cases above.
func TestOneMistakeIsOneProblem(t *testing.T) {
	null := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "~"}
	odd := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "%", Style: yaml.DoubleQuotedStyle}
	seen := map[string]int{} // how often a part was tried, by its last two keys
	for _, name := range []string{"effects", "record_keys", "external_tables", "patches", "kitchen_sink"} {
		data, err := os.ReadFile(filepath.Join(golden, "accepted", name, "idemgen.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		each(doc.Content[0], nil, func(n *yaml.Node, path []int, keys []string) {
			last := strings.Join(keys[max(0, len(keys)-2):], ".")
			if seen[last]++; seen[last] > 1 {
				return
			}
			for what, mistake := range map[string]yaml.Node{"null": null, "%": odd} {
				if what == "%" && n.Kind != yaml.ScalarNode {
					continue
				}
				there, others := problemsWith(t, &doc, n, path, mistake, follow[keys[len(keys)-1]])
				if there > 1 || there == 0 && what == "null" || others != "" {
					t.Errorf("%s: %s is %s: %d problems are there, others: %s", name, strings.Join(keys, "."), what, there, others)
				}
			}
		})
	}
}

// problemsWith returns how many problems a spec has at the place of a mistake, and the others, but
// for those with a code that may follow.
func problemsWith(t *testing.T, doc, n *yaml.Node, path []int, mistake yaml.Node, may string) (there int, others string) {
	t.Helper()
	old := *n
	*n = mistake
	text, err := yaml.Marshal(doc)
	*n = old
	var now yaml.Node
	if err != nil || yaml.Unmarshal(text, &now) != nil {
		t.Fatal(err)
	}
	at := now.Content[0]
	for _, i := range path {
		at = at.Content[i]
	}
	spec, problems := syntax.Load("s", text)
	if spec != nil {
		_, more := Resolve(spec)
		problems.Append(more)
	}
	var found []string
	for _, p := range problems.Sorted() {
		switch {
		case p.Pos.Line == at.Line && (p.Pos.Col == at.Column || p.Pos.Col == at.Column+1): // or within its quotes
			there++
		case p.Code != may:
			found = append(found, fmt.Sprintf("%d:%d: %s: %s", p.Pos.Line, p.Pos.Col, p.Code, p.Message))
		}
	}
	return there, strings.Join(found, "; ")
}

// each calls f with each value below a node: where it is, and the keys that lead to it.
func each(n *yaml.Node, path []int, f func(n *yaml.Node, path []int, keys []string), keys ...string) {
	for i, c := range n.Content {
		at := append(slices.Clone(path), i)
		switch {
		case n.Kind != yaml.MappingNode:
			f(c, at, keys)
			each(c, at, f, keys...)
		case i%2 == 1:
			to := append(slices.Clone(keys), n.Content[i-1].Value)
			f(c, at, to)
			each(c, at, f, to...)
		}
	}
}

// What follows from a name that is wrong is not told: neither of columns that nothing names, nor
// of a type whose values are not all known.
func TestNothingFollowsFromAWrongName(t *testing.T) {
	const tables = "  a: {primary_key: [id], columns: {id: uuid, n: bigint, m: nullable bigint}}\n"
	for what, c := range map[string]struct{ text, want string }{
		"columns of by": {graph(tables, "      E: {type: e, fields: {n: int64}, write: [{upsert: a, set: {id: id, n: n}, by: [nope], keep: [id], leave: [m]}]}\n"), "E206"},
		"a value of an enum": {strings.Replace(graph(tables, "      E: {type: e, fields: {s: Size, b: {type: Size, default: medium}}, write: [{insert: a, set: {id: id, n: {value: 1}}, leave: [m]}]}\n"),
			"topics:", "types: {Size: {enum: [small, '%']}}\ntopics:", 1), "E201"},
	} {
		var got []string
		for _, p := range problems(t, "s", []byte(c.text)) {
			got = append(got, p.Code)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s\n%s", what, got, c.want, printed(t, "s", []byte(c.text)))
		}
	}
}
