package idemtest

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
	"github.com/idemgen/idemgen/runtime/idem"
)

// runner plays a script with the service's own handlers.
func (s Service) runner(spec *proof.Service, script proof.Script) (*runner, error) {
	dir := filepath.Dir(s.Spec)
	s.Migrations = cmp.Or(s.Migrations, filepath.Join(dir, filepath.FromSlash(spec.Migrations.Dir)))
	if external := filepath.Join(dir, "testdata", "idem_external.sql"); s.External == "" && exists(external) {
		s.External = external
	}
	rows, err := proof.Insert(script.Given)
	r := &runner{Service: s, given: rows, start: s.New, want: wanted(script), packed: map[string]*model.Topic{}}
	for _, t := range spec.Tables {
		r.tables = append(r.tables, tableOf(spec, t))
	}
	for _, t := range spec.Topics {
		for _, name := range t.Kafka {
			if t.Payload.Encoding != "" || t.RecordKey != nil && t.RecordKey.Encoding != "" || t.HasBinaryHeaders() {
				r.packed[name] = t
			}
		}
	}
	return r, err
}

func tableOf(spec *proof.Service, t *model.Table) comparedTable {
	out := comparedTable{
		Name: t.Name, Key: model.ColumnNames(t.PrimaryKey), Columns: spec.Compared(t), SQL: proof.Name(t), Stored: map[string]string{},
		Sensitive: model.ColumnNames(model.SensitiveColumns(spec.Service, t)),
	}
	for _, c := range t.Columns {
		out.Stored[c.Name] = c.InDatabase()
	}
	return out
}

// events are the records of a script.
func events(spec *proof.Service, script proof.Script) (log []Event) {
	for i, r := range script.Records {
		e := Event{Name: r.Event, DeadLetter: script.Dead[i], Result: r.Result, Failure: cmp.Or(r.Error, r.Interrupted), Interrupted: r.Interrupted != ""}
		e.Message = idem.Message{Topic: r.Topic, Time: r.Time, Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			e.Message.Headers = append(e.Message.Headers, idem.Header(h))
		}
		if event := spec.Event(r.Event); event != nil {
			e.copies = proof.CopiesOf(event)
			if !r.Keyed {
				e.copies.Keyed, e.copies.Here = false, false
			}
			e.Keyed = e.copies.Keyed
			if event.Handle {
				e.handled = event.GoName
			}
			if event.Effect != nil {
				e.effect, e.locked = event.GoName, event.Effect.Lock != nil
			}
		}
		log = append(log, e)
	}
	return log
}

// wanted is what must be there after a script.
func wanted(script proof.Script) *state {
	s := &state{classes: map[string]int{}, calls: map[string]int{}}
	for _, t := range script.Then {
		r := rows{table: t.Name, counted: notCounted}
		if len(t.Columns) == 0 && t.Count > 0 {
			r.counted = t.Count
		}
		for _, row := range t.Rows {
			var cells []string
			for i, cell := range row {
				cells = append(cells, t.Columns[i]+"="+cell)
			}
			if cells != nil {
				r.cells = append(r.cells, cells)
			}
		}
		s.tables = append(s.tables, r)
	}
	for _, d := range script.DeadLetters {
		s.classes[d.Class] = d.Count
	}
	for _, c := range script.Calls {
		s.calls[c.Event] = c.Count
	}
	if script.Dead != nil {
		s.dead = map[int]expectedDead{}
	}
	for i, dead := range script.Dead {
		class, path, _ := strings.Cut(dead, " ")
		s.dead[i] = expectedDead{class: class, path: path}
	}
	return s
}

// shownScript is the log as a table, and then the rows that it must leave. All values are made up.
func (c *runner) shownScript(script proof.Script) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OFFSET\tEVENT\tKEY\tHEADERS\tVALUE\tBECOMES")
	for i, r := range script.Records {
		m := c.log[i].message
		var headers []string
		for _, h := range m.Headers {
			headers = append(headers, fmt.Sprintf("%s=%s", h.Name, h.Value))
		}
		becomes := "applied"
		if dead := script.Dead[i]; dead != "" {
			becomes = "dead letter: " + dead
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", m.Offset, cmp.Or(r.Event, "-"), cmp.Or(string(m.Key), "-"),
			cmp.Or(strings.Join(headers, " "), "-"), cmp.Or(string(m.Value), "-"), becomes)
	}
	table.Flush() // into a strings.Builder
	return b.String() + c.shownTables(c.want)
}

func (c *runner) shownTables(s *state) string {
	var b strings.Builder
	for _, t := range s.tables {
		fmt.Fprintf(&b, "\n%s: %d rows\n", t.table, len(t.cells))
		for _, row := range t.cells {
			fmt.Fprintf(&b, "  %s\n", c.shownRow(t.table, row))
		}
	}
	return b.String()
}

// pack is a record as producers of its topic send it. What the encoding cannot hold is sent as it
// is.
func (c *runner) pack(m idem.Message) idem.Message {
	if t := c.packed[m.Topic]; t != nil {
		m.Key, m.Value = seedlog.Packed(t, m.Key, m.Value)
		m.Headers = slices.Clone(m.Headers)
		for i, h := range m.Headers {
			m.Headers[i].Value = seedlog.PackedHeader(t, h.Name, h.Value)
		}
	}
	return m
}

// packedAll are records as their producers send them.
func packedAll(b *trial, records []idem.Message) []idem.Message {
	if len(b.packed) == 0 {
		return records
	}
	out := slices.Clone(records)
	for i, m := range out {
		out[i] = b.pack(m)
		if b.asIs[placeOf(m)] {
			out[i].Value = m.Value
		}
	}
	return out
}

// misPacked are values that cannot be unpacked, made of one that can: as it is without the
// packing, none, cut off, with something after it, and twice. Without a packing there are none.
func (c *runner) misPacked(m idem.Message) (bad [][]byte) {
	t := c.packed[m.Topic]
	if t == nil || m.Value == nil {
		return nil
	}
	whole := c.pack(m).Value
	all := [][]byte{m.Value, {}, whole[:max(0, len(whole)-2)], append(slices.Clone(whole), 'x'), slices.Concat(whole, whole)}
	return slices.DeleteFunc(all, func(value []byte) bool {
		_, _, err := seedlog.Unpacked(t, nil, value)
		return err == nil
	})
}
