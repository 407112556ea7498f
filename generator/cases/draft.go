package cases

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/seedlog"
)

// schemaLine names the JSON Schema of cases to editors.
const schemaLine = "# yaml-language-server: $schema=https://raw.githubusercontent.com/idemgen/idemgen/main/schema/idemgen.case.v1.schema.json\n"

// Draft writes a case for an event: what its row needs, the event with all its fields, and what
// the steps of the spec make of that. What Go code does only the team knows: then the case says
// that it is a draft, and is refused as long as it does. Of an effect it says what the call
// returns, and how many there are.
func Draft(s *model.Service, e *model.Event) []byte {
	rows, log := telling(s, e)
	c := newCourse(s, rows)
	d := draft{service: s, touched: map[*model.Table]bool{}}
	fmt.Fprintf(&d.out, "%sdescription: %s\n", schemaLine, text(e.Name+" takes effect once."))
	for _, r := range log {
		d.takes(e.Topic, r.Event)
	}
	if len(d.coded) > 0 {
		fmt.Fprintf(&d.out, "draft: Under then is what the steps of the spec do. Change it to what must be there when the Go code of %s has run, name the other tables that it writes, and remove this line.\n", strings.Join(d.coded, ", "))
	}
	d.given(c.given)
	d.out.WriteString("events:\n")
	for i, r := range log {
		d.event(e.Topic, r)
		c.apply(e.Topic, r, i)
	}
	d.dead = c.dead
	if len(c.dead) == 0 {
		d.called(e.Topic, log)
	}
	d.then(c.in)
	return []byte(d.out.String())
}

// draft is a case that is being written.
type draft struct {
	service *model.Service
	out     strings.Builder
	touched map[*model.Table]bool
	coded   []string // events with Go code
	dead    []string // classes, in order
	calls   []string // of effects, as then writes them
}

func (d *draft) given(rows []model.Row) {
	if len(rows) == 0 {
		return
	}
	d.out.WriteString("given:\n")
	for i, r := range rows {
		d.touched[r.Table] = true
		if i == 0 || rows[i-1].Table != r.Table {
			fmt.Fprintf(&d.out, "  %s:\n", r.Table.Name)
		}
		var members []string
		for _, a := range r.Set {
			if a.Value.Kind == model.ConstValue {
				members = append(members, a.Column.Name+": "+constantOf(a.Column, a.Value.Const.Text))
			}
		}
		d.row(members)
	}
}

// constantOf is a value that a row has before. An array is a list, as it is under then, and its
// elements are plain.
func constantOf(c *model.Column, value string) string {
	if isArray(c.Type) {
		return "[" + strings.Trim(value, "{}") + "]"
	}
	return text(value)
}

// widest is how long a row may be on one line.
const widest = 90

func (d *draft) row(members []string) {
	line := "    - {" + strings.Join(members, ", ") + "}\n"
	if len(line) > widest {
		line = "    - " + strings.Join(members, "\n      ") + "\n"
	}
	d.out.WriteString(line)
}

func (d *draft) event(t *model.Topic, r seedlog.Record) {
	fmt.Fprintf(&d.out, "  - topic: %s\n", text(r.In(t)))
	if r.Key != nil {
		key := text(string(r.Key))
		if t.RecordKey != nil && t.RecordKey.JSON {
			key = flow(r.Key)
		}
		fmt.Fprintf(&d.out, "    key: %s\n", key)
	}
	var headers []string
	for _, h := range r.Headers {
		headers = append(headers, text(h.Name)+": "+text(string(h.Value)))
	}
	if len(headers) > 0 {
		fmt.Fprintf(&d.out, "    headers: {%s}\n", strings.Join(headers, ", "))
	}
	if !r.Time.IsZero() {
		fmt.Fprintf(&d.out, "    timestamp: %s\n", r.Time.Format(time.RFC3339))
	}
	members, isObject := linesOf(r.Value)
	switch {
	case r.Value == nil:
		d.out.WriteString("    value: null\n")
	case isObject && len(members) > 0:
		fmt.Fprintf(&d.out, "    value:\n      %s\n", strings.Join(members, "\n      "))
	case isObject:
		d.out.WriteString("    value: {}\n")
	default:
		fmt.Fprintf(&d.out, "    text: %s\n", quoted(string(r.Value)))
	}
	if result, _ := linesOf(r.Result); len(result) > 0 {
		fmt.Fprintf(&d.out, "    result:\n      %s\n", strings.Join(result, "\n      "))
	}
}

// takes keeps what a record of the event may change.
func (d *draft) takes(t *model.Topic, event string) {
	for _, e := range t.Events {
		if e.GoName != event {
			continue
		}
		for _, s := range e.Steps {
			d.touched[s.Table] = true
			for _, c := range s.Cascades {
				d.touched[c] = true
			}
		}
		if len(e.Emits) > 0 {
			d.touched[d.service.Outbox.Table] = true
		}
		if e.Handle && !slices.Contains(d.coded, e.Name) {
			d.coded = append(d.coded, e.Name)
		}
	}
}

// called counts the calls of effects. Every record of a way takes effect, under a key of its own.
func (d *draft) called(t *model.Topic, log []seedlog.Record) {
	for _, e := range t.Events {
		n := 0
		for _, r := range log {
			if r.Event == e.GoName {
				n++
			}
		}
		if e.Effect != nil && n > 0 {
			d.calls = append(d.calls, fmt.Sprintf("%s: %d", e.Name, n))
		}
	}
}

func (d *draft) then(in *oracle.Interpreter) {
	if len(d.touched) == 0 && len(d.dead) == 0 && len(d.calls) == 0 {
		d.out.WriteString("then: nothing\n")
		return
	}
	d.out.WriteString("then:\n")
	for _, t := range d.service.Tables {
		switch {
		case !d.touched[t]:
		case d.service.Outbox != nil && t == d.service.Outbox.Table:
			d.sent(in.Cells(t.Name))
		default:
			d.table(t, in.Cells(t.Name))
		}
	}
	slices.Sort(d.dead)
	var classes []string
	for len(d.dead) > 0 {
		class := d.dead[0]
		n := len(d.dead)
		d.dead = slices.DeleteFunc(d.dead, func(c string) bool { return c == class })
		classes = append(classes, fmt.Sprintf("%s: %d", class, n-len(d.dead)))
	}
	if len(classes) > 0 {
		fmt.Fprintf(&d.out, "  dead_letters: {%s}\n", strings.Join(classes, ", "))
	}
	if len(d.calls) > 0 {
		fmt.Fprintf(&d.out, "  calls: {%s}\n", strings.Join(d.calls, ", "))
	}
}

func (d *draft) table(t *model.Table, rows [][]oracle.Cell) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		fmt.Fprintf(&d.out, "  %s: %d\n", t.Name, len(rows))
		return
	}
	fmt.Fprintf(&d.out, "  %s:\n", t.Name)
	for _, row := range rows {
		var members []string
		for _, c := range row {
			value := text(c.Text)
			switch {
			case c.Null:
				value = "null"
			case isArray(c.Column.Type), c.Column.Type.Kind == model.ColJSONB, c.Column.Type.Kind == model.ColJSON:
				value = flow([]byte(c.Text))
			}
			members = append(members, c.Column.Name+": "+value)
		}
		d.row(members)
	}
}
