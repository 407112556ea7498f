package syntax

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// wholeCase has all that a case may have.
const wholeCase = `given:
  orders: [{id: 1, note: x}, {id: 2}]
events:
  - {topic: a, value: {a: 1, b: [2]}, headers: {type: made, none: ~}, key: k, result: {id: x}}
  - {topic: a, text: "not JSON", timestamp: 2026-01-02T03:04:05Z, error: declined}
  - {topic: a, value: ~, interrupted: true}
then:
  orders: [{id: 1}]
  lines: 2
  dead_letters: {decode: 1, handler: 2}
  calls: {Paid: 1, Sent: 0}
`

// A case is read as a whole, and marked as broken if and only if something in it was refused,
// whichever of its values is of another kind.
func TestACaseIsBrokenIfAPartOfItIsRefused(t *testing.T) {
	c, problems := LoadCase("case.yaml", []byte(wholeCase))
	if c.Broken || problems.Errors() > 0 {
		t.Fatalf("%v", problems.Sorted())
	}
	if len(c.Given) != 1 || len(c.Given[0].Rows) != 2 || len(c.Given[0].Rows[0].Cells) != 2 || len(c.Events) != 3 || len(c.Events[0].Headers) != 2 ||
		c.Events[0].Headers[0].Value == nil || c.Events[0].Headers[1].Value != nil || len(c.Then) != 2 || len(c.Then[0].Rows) != 1 || len(c.Calls) != 2 || c.Nothing {
		t.Errorf("%+v", c)
	}
	if c, problems := LoadCase("case.yaml", []byte("events: [{topic: a, value: {}}]\nthen: nothing\n")); !c.Nothing || c.Broken || problems.Errors() > 0 {
		t.Errorf("then: nothing is %+v", c)
	}
	for _, text := range []string{"", "# nothing\n", "then: {}\n", "then: all\n"} {
		if c, problems := LoadCase("case.yaml", []byte(text)); !c.Broken || problems.Errors() == 0 {
			t.Errorf("%q: broken %v, %d problems", text, c.Broken, problems.Errors())
		}
	}
	const ends = "then: nothing\n"
	for text, want := range map[string]string{
		"events: [{topic: a}]\n" + ends:                                              "1:11 E110 an event must have either value or text",
		"events: [{topic: a, value: 1, text: x}, {topic: a, value: 2}]\n" + ends:     "1:11 E110 an event must have either value or text",
		"events: [{topic: a, value: 1, error: x, interrupted: true}]\n" + ends:       "1:41 E110 a call has one outcome, but here are two: error and interrupted",
		"events: [{topic: a, value: 1, result: {a: 1}, error: x}]\n" + ends:          "1:47 E110 a call has one outcome, but here are two: result and error",
		"events: [{topic: a, value: 1, interrupted: true, result: {a: 1}}]\n" + ends: "1:50 E110 a call has one outcome, but here are two: interrupted and result",
		"given: {a: x, b: []}\nevents: [{topic: a, value: 1}]\n" + ends:              "1:12 E106 the rows of \"a\" must be a list, not a string",
		"events: [{topic: a, value: 1}]\nthen: {a: [x], b: []}\n":                    "2:12 E106 a row of \"a\" must be a map, not a string",
		"events: [{topic: a, value: 1}]\nthen: {a: {b: 1}, c: 1}\n":                  "2:11 E106 then of \"a\" must be a list, not a map",
		"events: [{topic: a, value: 1}]\nthen: {dead_letters: {}, c: 1}\n":           "2:22 E106 then of \"dead_letters\" must not be an empty map",
		"": "1:1 E106 the case must be a map, not empty",
		"events: [{topic: a, value: 1}]\nthen: {}\n": "2:7 E106 then must not be an empty map",
	} {
		c, problems := LoadCase("case.yaml", []byte(text))
		got := ""
		for _, p := range problems.Sorted() {
			got += fmt.Sprintf("%d:%d %s %s", p.Pos.Line, p.Pos.Col, p.Code, p.Message)
		}
		if got != want || !c.Broken {
			t.Errorf("%q: broken %v\n%s\nwant\n%s", text, c.Broken, got, want)
		}
	}
	quoted, _ := LoadCase("case.yaml", []byte("events: [{topic: a, value: 1, headers: {a: \"null\", b: null}}]\n"+ends))
	if h := quoted.Events[0].Headers; len(h) != 2 || h[0].Value == nil || h[0].Value.Value != "null" || h[1].Value != nil {
		t.Errorf("headers: %+v", h)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(wholeCase), &doc); err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{} // places, and what is refused there
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
		c, problems := LoadCase("case.yaml", text)
		broken := c.Broken || slices.ContainsFunc(c.Events, func(e *CaseEvent) bool { return e.Broken })
		if refused[place+" "+other] = problems.Errors() > 0; broken != (problems.Errors() > 0) {
			t.Errorf("%s is %s: broken %v, %v", place, other, broken, problems.Sorted())
		}
	}
	var each func(n *yaml.Node, path ...string)
	each = func(n *yaml.Node, path ...string) {
		for _, other := range []string{"~", "[]", "{}", "[x]", "{x: y}", "-1", "x"} {
			try(n, strings.Join(path, "."), other)
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
	for place, is := range map[string]bool{
		"given ~": true, "given.orders ~": true, "given.orders {}": true, "given.orders.- {}": true, "given.orders.- x": true, "given.orders.-.id ~": false,
		"events []": true, "events.- x": true, "events.- {}": true, "events.-.headers x": true, "events.-.headers.none ~": false, "events.-.value ~": false,
		"then {}": true, "then x": true, "then.orders {}": true, "then.orders.- {}": true, "then.lines -1": true, "then.lines x": true, "then.lines {}": true,
		"then.dead_letters {}": true, "then.dead_letters {x: y}": true, "then.dead_letters.decode -1": true, "then.calls {}": true, "then.calls.Paid x": true,
	} {
		if got, tried := refused[place]; got != is || !tried {
			t.Errorf("%s is refused: %v", place, got)
		}
	}
}
