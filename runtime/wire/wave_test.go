package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// scriptPlan is a plan whose records say what generated code would do: "put order 1", "add order
// 1", "read order 1", "delete item 2", "putall item", "deleteall item", "unlink order", "call",
// "fail". Orders are the parents of items. A row holds the ordinal of its record.
type scriptPlan struct {
	rows  map[string]*Rows
	mark  Rows // one row per wave
	event int
}

// scriptOrder is the order of a wave: parents before children, deletes last and reversed.
var scriptOrder = []string{"put order", "add order", "plus order", "put item", "delete item", "delete order"}

func newScript() *scriptPlan {
	p := &scriptPlan{rows: map[string]*Rows{}}
	for _, sql := range scriptOrder {
		p.rows[sql] = new(Rows)
	}
	return p
}

func (p *scriptPlan) Add(b *Batch, m *Message) error {
	p.event++
	for _, step := range strings.Split(string(m.Value), "; ") {
		words := append(strings.Fields(step), "", "")
		verb, table := words[0], words[1]
		id, _ := strconv.Atoi(words[2])
		row := Row(table).Int(int64(id))
		switch verb {
		case "put":
			b.Puts(row)
		case "upsert":
			b.Upserts(row)
			verb = "put"
		case "read":
			b.Reads(row)
		case "delete":
			b.Deletes(row)
		case "add", "plus":
			b.Gathers(row, verb+" "+table)
		case "putall":
			b.PutsAll(table)
			verb = "put"
		case "deleteall":
			b.DeletesAll(table)
			verb = "delete"
		case "unlink":
			b.Unlinks(table)
		case "touch":
			b.Touches(table)
		case "call":
			b.Call(m, Call{Event: step, Fn: func(context.Context, Tx) error { return nil }})
		case "fail":
			return Unknown("other")
		}
		if rows := p.rows[verb+" "+table]; rows != nil {
			rows.Row().Int4(int32(p.event))
		}
	}
	return nil
}

func (p *scriptPlan) Flush(b *Batch) {
	for _, sql := range scriptOrder {
		b.Write(sql, p.rows[sql])
	}
	p.mark.Row().Int4(0)
	b.Write("|", &p.mark)
}

// run adds the records and returns the statements with the ordinals of their rows: "put
// order 1 2, delete item 3 | put order 4", a bar between two waves.
func (p *scriptPlan) run(b *Batch, records ...string) string {
	p.event = 0
	b.Reset(nil)
	for _, r := range records {
		b.Add(&Message{Value: []byte(r)}, &FailurePolicy{})
	}
	steps, _ := b.Finish()
	return describe(steps)
}

func describe(steps []Step) string {
	var waves []string
	var wave []string
	for _, s := range steps {
		switch {
		case s.Stage == GoCall:
			waves = append(waves, s.Call.Event)
		case s.SQL == "|" && wave != nil:
			waves = append(waves, strings.Join(wave, ", "))
			wave = nil
		case s.SQL != "|":
			text := s.SQL
			for a := s.Args[0][arrayHeader:]; len(a) > 0; a = a[8:] {
				text += fmt.Sprint(" ", binary.BigEndian.Uint32(a[4:]))
			}
			wave = append(wave, text)
		}
	}
	return strings.Join(waves, " | ")
}

// A wave ends where, in one pass of the plan, the tables would not become what they
// become record by record, and nowhere else.
func TestWaves(t *testing.T) {
	for _, c := range []struct{ name, records, want string }{
		{"a row added to twice", "add order 1 / add order 1; add order 1", "add order 1 2 2"},
		{"a row added to by two statements", "add order 1 / plus order 1 / add order 1", "add order 1 | plus order 2 | add order 3"},
		{"different rows added to by two statements", "add order 1 / plus order 2 / add order 1", "add order 1 3, plus order 2"},
		{"a row put, then added to", "put order 1 / add order 1 / add order 1", "put order 1 | add order 2 3"},
		{"a row added to, then put", "add order 1 / put order 1 / add order 1", "add order 1 | put order 2 | add order 3"},
		{"a row added to, then deleted", "add order 1 / delete order 1", "add order 1 | delete order 2"},
		{"a row deleted, then added to", "delete order 1 / add order 1", "delete order 1 | add order 2"},
		{"a row added to, then all rows put", "add order 1 / putall order / add order 1", "add order 1 | put order 2 | add order 3"},
		{"all rows touched between", "add order 1 / touch order; put item 1 / add order 1", "add order 1 | put item 2 | add order 3"},
		{"children, and their parent added to", "read order 1; put item 1; add order 1 / read order 1; put item 2; add order 1", "add order 1 2, put item 1 2"},
		{"a child before its parent is added to", "read order 1; put item 1 / add order 1", "put item 1 | add order 2"},
		{"different rows", "put order 1 / put order 2 / delete order 3", "put order 1 2, delete order 3"},
		{"a row put twice", "put order 1 / put order 1", "put order 1 | put order 2"},
		{"a row put twice by one event", "put order 1; put order 1", "put order 1 | put order 1"},
		{"equal keys of two tables", "put order 1 / put item 1", "put order 1, put item 2"},
		{"put, then delete", "put order 1 / delete order 1", "put order 1 | delete order 2"},
		{"delete, then put", "delete order 1 / put order 1", "delete order 1 | put order 2"},
		{"deleted twice", "delete order 1 / delete order 1", "delete order 1 | delete order 2"},
		{"children after their parent", "put order 1 / read order 1; put item 1 / read order 1; put item 2", "put order 1, put item 2 3"},
		{"a child before its parent", "read order 1; put item 1 / put order 1", "put item 1 | put order 2"},
		{"children of two events, then their parent", "read order 1; put item 1 / read order 1; put item 2 / put order 1", "put item 1 2 | put order 3"},
		{"two readers, the last one puts", "read order 1; put item 1 / read order 1; put item 2; put order 1", "put item 1 2 | put order 2"},
		{"an event with child and parent", "read order 1; put item 1; put order 1", "put order 1, put item 1"},
		{"a child of a deleted parent", "delete order 1 / read order 1; put item 1", "delete order 1 | put item 2"},
		{"a child of another parent", "delete order 1 / read order 2; put item 1", "put item 2, delete order 1"},
		{"parent deleted after its children", "unlink order; delete item 1 / delete order 1", "delete item 1, delete order 2"},
		{"children deleted after their parent", "delete order 1 / unlink order; delete item 1", "delete order 1 | delete item 2"},
		{"both deleted by one event", "delete order 1; unlink order; delete item 1", "delete item 1, delete order 1"},
		{"unlinked after two deletes", "delete order 1 / delete order 2; unlink order; delete item 1", "delete item 2, delete order 1 2"},
		{"whole table put, then a row", "putall order / put order 1", "put order 1 | put order 2"},
		{"a row put, then the whole table", "put order 1 / putall order", "put order 1 | put order 2"},
		{"whole table put twice", "putall order / putall order", "put order 1 | put order 2"},
		{"whole table put, then a row deleted", "putall order / delete order 1", "put order 1 | delete order 2"},
		{"a row deleted, then the whole table put", "delete order 1 / putall order", "delete order 1 | put order 2"},
		{"whole table put after a read", "read order 1; put item 1 / putall order", "put item 1 | put order 2"},
		{"whole table put after an own read", "read order 1; put item 1; putall order", "put order 1, put item 1"},
		{"whole table put, then a read", "putall order / read order 1; put item 1", "put order 1, put item 2"},
		{"whole table deleted, then a row put", "deleteall order / put order 1", "delete order 1 | put order 2"},
		{"whole table deleted, then a read", "deleteall order / read order 1; put item 1", "delete order 1 | put item 2"},
		{"a row put, then the whole table deleted", "put item 1 / deleteall item", "put item 1 | delete item 2"},
		{"a row deleted, then the whole table deleted", "delete item 1 / deleteall item", "delete item 1 | delete item 2"},
		{"whole table deleted twice", "deleteall item / deleteall item", "delete item 1 | delete item 2"},
		{"whole table deleted, then unlinked", "deleteall order / unlink order; delete item 1", "delete order 1 | delete item 2"},
		{"a cascade after its rows", "put item 1 / touch item; delete order 1", "put item 1 | delete order 2"},
		{"a cascade, then its rows", "touch item; delete order 1 / put item 1", "delete order 1 | put item 2"},
		{"a cut between cascade and delete", "delete order 1 / touch item; delete order 1 / put item 1", "delete order 1 | delete order 2 | put item 3"},
		{"a cut between read and put", "put item 1 / read order 5; put item 1 / put order 5", "put item 1 | put item 2 | put order 3"},
		{"an unknown parent", "put order 1 / touch order; put item 1 / put order 2", "put order 1 | put item 2 | put order 3"},
		{"deletes and puts of one event", "deleteall item; put item 1; put item 2", "delete item 1 | put item 1 1"},
		{"a cascade", "delete order 1; deleteall item / read order 2; put item 5", "delete item 1, delete order 1 | put item 2"},
		{"the next row does not read what this one read", "read order 1; put item 1; put item 1 / put order 1", "put item 1 | put order 2, put item 1"},
		{"nor does the next event", "read order 1 / call; put item 1 / put order 1", "call | put order 3, put item 2"},
		{"a touched table was deleted from", "delete item 1 / touch item; delete order 1", "delete item 1 | delete order 2"},
		{"a table is touched twice", "touch item; delete order 1 / touch item; delete order 2", "delete order 1 | delete order 2"},
		{"the next row does not touch what this one touched", "touch item; delete order 1; delete order 1 / put item 1", "delete order 1 | put item 2, delete order 1"},
		{"other tables", "putall order / put item 1 / deleteall item", "put order 1, put item 2 | delete item 3"},
		{"a cut forgets what was before", "put order 1 / put order 1 / put order 2", "put order 1 | put order 2 3"},
		{"the cut's own row is known", "put order 1 / put order 1 / put order 1", "put order 1 | put order 2 | put order 3"},
		{"a cut in the middle of an event", "put order 1 / put item 7; put order 1; put item 8", "put order 1, put item 2 | put order 2, put item 2"},
		{"handlers cut", "put order 1 / put order 2; call / put order 3", "put order 1 2 | call | put order 3"},
		{"handlers without rows", "call / call", "call | call"},
		{"nothing", "ignored", ""},
	} {
		p := newScript()
		b := NewBatch(p)
		for range 2 { // the batch is reused
			if got := p.run(b, strings.Split(c.records, " / ")...); got != c.want {
				t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.records, got, c.want)
			}
		}
	}
}

// Rows with different keys have different identities, columns do not run together.
func TestRowID(t *testing.T) {
	rows := []RowID{Row("t"), Row("u"), Row("t").Text(""), Row("t").Text("a"), Row("t").Text("ab"), Row("t").Text("a").Text("b"), Row("t").Text("ab").Text(""),
		Row("t").Int(1), Row("t").Int(-1), Row("t").Int(256), Row("t").Int(1 << 40), Row("t").Int(1).Int(0), Row("t").UUID(UUID{}), Row("t").UUID(UUID{15: 1})}
	seen := map[RowID]int{}
	for i, r := range rows {
		if other, twice := seen[r]; twice {
			t.Errorf("rows %d and %d are one", other, i)
		}
		seen[r] = i
	}
	again := Row("t").Text("a").Int(1)
	if Row("t").Text("a").Int(1) != again {
		t.Error("equal rows differ")
	}
}
