package syntax

import "math"

// CaseTable is what a case says of one table: its rows, or how many there are.
type CaseTable struct {
	Name  Text // Pos is the key
	Rows  []CaseRow
	Count *Int // of then only; nil with Rows
}

// CaseRow is one row: those of its columns that the case names.
type CaseRow struct {
	Cells []CaseCell
	Pos   Pos // the map
}

// CaseCell is a column's value, to be read by the column's type.
type CaseCell struct {
	Column Text // Pos is the key
	Value  *Node
}

// ClassCount is how many dead letters of a class there are.
type ClassCount struct {
	Class string
	Count int
}

// CallCount is how many calls of an event's effect there are.
type CallCount struct {
	Event Text // its name in the spec; Pos is the key
	Count int
}

// deadLetters is the entry of then that is no table.
const deadLetters = "dead_letters"

// calls is the other one.
const calls = "calls"

// nothing is what then says of a case that changes no row.
const nothing = "nothing"

func readGiven(w *walker, e entry, c *Case) bool {
	if !w.isMap(e) {
		return false
	}
	ok := true
	for p := range w.pairs(e) {
		t := &CaseTable{Name: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}}
		ok = w.caseRows(entry{"the rows of " + quote(p.Key), p.KeyPos, p.Value}, t) && ok
		c.Given = append(c.Given, t)
	}
	return ok
}

// readThen reads rows, or their number, by table. A map is no such thing: it holds the dead
// letters by class, or the calls by event. An empty map would hold for nearly every handler: what
// it means is said as nothing.
func readThen(w *walker, e entry, c *Case) bool {
	const hint = "list each table that matters, with its rows or their number; then: nothing expects all tables to stay as given, without dead letters"
	if n := e.node; n.Kind == ScalarNode && n.Text == nothing {
		c.Nothing = true
		return true
	}
	if e.node.Kind != MapNode {
		return w.notThatKind(e, "a map or the word nothing", hint)
	}
	if len(e.node.Pairs) == 0 {
		w.ds.Add(e.node.Pos, "E106", "then must not be an empty map", hint)
		return false
	}
	ok := true
	for p := range w.pairs(e) {
		te := entry{"then of " + quote(p.Key), p.KeyPos, p.Value}
		t := &CaseTable{Name: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}}
		switch {
		case p.Key == deadLetters && p.Value.Kind == MapNode:
			ok = w.some(te) && walkMap(w, te, classKeys, c) && ok
			continue
		case p.Key == calls && p.Value.Kind == MapNode:
			ok = readCalls(w, te, c) && ok
			continue
		case p.Value.Kind == ScalarNode:
			var fine bool
			t.Count, fine = w.integer(te, 0, math.MaxInt32)
			ok = fine && ok
		default:
			ok = w.caseRows(te, t) && ok
		}
		c.Then = append(c.Then, t)
	}
	return ok
}

// readCalls reads how many calls of effects there are, by event.
func readCalls(w *walker, e entry, c *Case) bool {
	ok := w.some(e)
	for p := range w.pairs(e) {
		n, fine := w.integer(entry{"calls of " + quote(p.Key), p.KeyPos, p.Value}, 0, math.MaxInt32)
		if ok = fine && ok; fine {
			c.Calls = append(c.Calls, CallCount{Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}, int(n.Value)})
		}
	}
	return ok
}

func (w *walker) caseRows(e entry, t *CaseTable) bool {
	if !w.isList(e) {
		return false
	}
	ok := true
	for _, item := range e.node.Items {
		ie := entry{what: "a row of " + quote(t.Name.Value), node: item}
		if !w.isMap(ie) || !w.some(ie) {
			ok = false
			continue
		}
		row := CaseRow{Pos: item.Pos}
		for p := range w.pairs(ie) {
			ok = w.once(p.Value) && ok
			row.Cells = append(row.Cells, CaseCell{Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}, p.Value})
		}
		t.Rows = append(t.Rows, row)
	}
	return ok
}
