package cases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// Columns of an outbox that a case compares, beside those of its headers.
const (
	sentTopic   = "topic"
	sentKey     = "record_key"
	sentType    = "event_type"
	sentPayload = "payload"
)

// sentReader reads what a case says of the outbox.
type sentReader struct {
	*reader
	outbox *model.Outbox
	rows   []sentRow
}

// sentRow are the columns of a record that the case names, in the form of package oracle.
type sentRow struct {
	cells map[string]string
	pos   schema.Pos
}

// sent is what must be in the outbox: all rows of it, by what the case names of them.
func (r *reader) sent(c *schema.CaseSent) (out Table) {
	s := sentReader{r, r.service.Outbox, nil}
	if s.outbox == nil {
		for _, e := range c.Events {
			r.report.Add(e.Event.Pos, "E156", "the spec has no outbox: nothing is sent", "leave sent out")
		}
		return out
	}
	for _, e := range c.Events {
		of := s.event(e.Event)
		if of == nil {
			continue
		}
		if e.Count != nil {
			for range e.Count.Value {
				s.add(of, e.Event.Pos, map[string]string{})
			}
		}
		for _, record := range e.Records {
			s.add(of, record.Pos, s.record(of, record))
		}
	}
	return s.table()
}

func (s *sentReader) add(of *model.OutEvent, pos schema.Pos, cells map[string]string) {
	cells[sentTopic], cells[sentType] = quote(of.Topic), quote(of.Type)
	s.rows = append(s.rows, sentRow{cells, pos})
}

// table brings the rows into one form. A header that a record does not name is not there; a key
// and a value all of them name, or none.
func (s *sentReader) table() Table {
	out := Table{Name: s.outbox.Table.Name, Count: len(s.rows)}
	for _, c := range s.outbox.Table.Columns {
		if slices.ContainsFunc(s.rows, func(row sentRow) bool { return row.cells[c.Name] != "" }) {
			out.Columns = append(out.Columns, c.Name)
		}
	}
	for _, row := range s.rows {
		cells := make([]string, len(out.Columns))
		for j, column := range out.Columns {
			cells[j] = cmp.Or(row.cells[column], "NULL")
			if word := map[string]string{sentKey: "key", sentPayload: "value"}[column]; row.cells[column] == "" && word != "" {
				s.report.Add(row.pos, "E154", "the record lacks "+word+", which another one under sent has", "name the same parts of all records, or of none")
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// record are the columns that the case names.
func (s *sentReader) record(of *model.OutEvent, record *schema.SentRecord) map[string]string {
	row := map[string]string{}
	if record.Key != nil {
		row[sentKey] = s.text("the key", of.Key, record.Key)
	}
	for _, h := range record.Headers {
		at := slices.IndexFunc(of.Headers, func(v model.OutValue) bool { return v.Header.Name == h.Name.Value })
		switch {
		case at < 0:
			var names []string
			for _, v := range of.Headers {
				names = append(names, v.Header.Name)
			}
			s.report.Add(h.Name.Pos, "E207", fmt.Sprintf("event %s has no header %s", wording.Quote(of.Name), wording.Quote(h.Name.Value)), wording.Choices(h.Name.Value, "headers", names))
		case h.Value == nil:
			row[of.Headers[at].Header.Column.Name] = "NULL"
		default:
			row[of.Headers[at].Header.Column.Name] = s.text("header "+wording.Quote(h.Name.Value), of.Headers[at].Field, h.Value)
		}
	}
	if record.Value != nil {
		before := s.report.Errors()
		row[sentPayload] = s.value(of, record.Value)
		if s.report.Errors() > before && slices.ContainsFunc(of.Payload, (*model.Field).HoldsSensitive) {
			s.hideAll(record.Value)
		}
	}
	return row
}

func (s *sentReader) text(what string, f *model.Field, text *schema.Text) string {
	shown, err := oracle.SentText(f, text.Value)
	if err != nil {
		s.report.Add(text.Pos, "E304", fmt.Sprintf("%s cannot be %s: %v", what, wording.Quote(text.Value), err), "")
		if f.HoldsSensitive() {
			s.report.Mask(text.Pos)
		}
		return "NULL"
	}
	return shown
}

// value is a whole payload: what leaves is a contract, member by member.
func (s *sentReader) value(of *model.OutEvent, n *schema.Node) string {
	switch {
	case n.Null() != of.Tombstone:
		hint := map[bool]string{true: "it is a tombstone: value: null", false: "write its members: a value is compared as a whole"}[of.Tombstone]
		s.report.Add(n.Pos, "E106", "event "+wording.Quote(of.Name)+" cannot have this value", hint)
		return "NULL"
	case of.Tombstone:
		return "NULL"
	}
	root := &form{members: map[string]*form{}}
	for _, f := range of.Payload {
		root.holdsAt(f)
	}
	before := s.report.Errors()
	document := s.json(n, root)
	if s.report.Errors() > before {
		return "NULL"
	}
	shown, err := oracle.SentPayload(of, []byte(document), s.service.Limits.MaxDepth)
	if err != nil {
		s.report.Add(n.Pos, "E304", fmt.Sprintf("event %s is never sent with this value: %v", wording.Quote(of.Name), err), "")
		return "NULL"
	}
	return shown
}

// event finds an event of the outbox, or reports E156.
func (s *sentReader) event(name schema.Text) *model.OutEvent {
	var names []string
	hint := ""
	for _, e := range s.outbox.Events {
		switch name.Value {
		case e.Name:
			return e
		case e.Doc.RenamedFrom:
			hint = "it was renamed: write " + e.Name
		}
		names = append(names, e.Name)
	}
	s.report.Add(name.Pos, "E156", "the outbox has no event "+wording.Quote(name.Value), cmp.Or(hint, wording.Choices(name.Value, "events of the outbox", names)))
	return nil
}

// sent writes the rows of the outbox as records, by event.
func (d *draft) sent(rows [][]oracle.Cell) {
	if len(rows) == 0 {
		d.out.WriteString("  sent: {}\n")
		return
	}
	byEvent := map[*model.OutEvent][]map[string]oracle.Cell{}
	for _, row := range rows {
		cells := map[string]oracle.Cell{}
		for _, c := range row {
			cells[c.Column.Name] = c
		}
		for _, e := range d.service.Outbox.Events {
			if e.Topic == cells[sentTopic].Text && e.Type == cells[sentType].Text {
				byEvent[e] = append(byEvent[e], cells)
			}
		}
	}
	d.out.WriteString("  sent:\n")
	for _, e := range d.service.Outbox.Events {
		if len(byEvent[e]) > 0 {
			fmt.Fprintf(&d.out, "    %s:\n", e.Name)
		}
		for _, cells := range byEvent[e] {
			d.sentRecord(e, cells)
		}
	}
}

func (d *draft) sentRecord(e *model.OutEvent, cells map[string]oracle.Cell) {
	fmt.Fprintf(&d.out, "      - key: %s\n", text(cells[sentKey].Text))
	var headers []string
	for _, h := range e.Headers {
		if c := cells[h.Header.Column.Name]; !c.Null {
			headers = append(headers, text(h.Header.Name)+": "+text(c.Text))
		}
	}
	if len(headers) > 0 {
		fmt.Fprintf(&d.out, "        headers: {%s}\n", strings.Join(headers, ", "))
	}
	switch members, _ := linesOf([]byte(cells[sentPayload].Text)); {
	case e.Tombstone:
		d.out.WriteString("        value: null\n")
	case len(members) == 0:
		d.out.WriteString("        value: {}\n")
	default:
		fmt.Fprintf(&d.out, "        value:\n          %s\n", strings.Join(members, "\n          "))
	}
}
