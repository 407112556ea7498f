package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// draft is a case on its way to a first text: one record that shows an event, and what it needs.
type draft struct {
	service *model.Service
	event   *model.Event
	given   []model.Row
	records []seedlog.Record // the last one is that of the event
}

// Draft is the text of a case to begin with: a record of the event, the rows and records without
// which it would do something else, and as comments what the steps of the spec leave. It is
// refused until its then says something.
func Draft(s *model.Service, e *model.Event) []byte {
	d := draft{service: s, event: e}
	rows, log := seedlog.Log(s, e.Topic, nil)
	d.given, d.records = rows, log[:d.shown(rows, log)+1]
	want := d.leaves(d.given, d.records)
	d.records = fewest(d.records, len(d.records)-1, func(less []seedlog.Record) bool {
		return slices.Equal(d.leaves(d.given, less), want)
	})
	want = d.leaves(d.given, d.records)
	d.given = fewest(d.given, len(d.given), func(less []model.Row) bool {
		return slices.Equal(d.leaves(less, d.records), want)
	})
	d.renumber()
	return d.text()
}

// rowNumbers are those that the log makes the values of a row from: they end a uuid, or a text.
var (
	numbers    = regexp.MustCompile(`[0-9]+`)
	rowNumbers = regexp.MustCompile(`(?:[A-Za-z] ?|-000000)([0-9]{6})\b`)
)

// renumber gives the rows small numbers in place of those that the log of the topic's test has:
// what is sent of both is apart.
func (d *draft) renumber() {
	var all []string
	d.texts(func(text string) string {
		for _, m := range rowNumbers.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(all, m[1]) {
				all = append(all, m[1])
			}
		}
		return text
	})
	slices.Sort(all)
	d.texts(func(text string) string {
		return numbers.ReplaceAllStringFunc(text, func(digits string) string {
			at := slices.Index(all, strings.TrimPrefix(digits, "000000"))
			switch {
			case at < 0:
				return digits
			case len(digits) == 12:
				return fmt.Sprintf("%012d", at+1)
			}
			return strconv.Itoa(at + 1)
		})
	})
}

// texts replaces every text of the rows and records.
func (d *draft) texts(by func(string) string) {
	of := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		return []byte(by(string(b)))
	}
	for i, row := range d.given {
		set := slices.Clone(row.Set)
		for j, a := range set {
			if a.Value.Kind == model.ConstValue {
				set[j].Value.Const = &model.Constant{Text: by(a.Value.Const.Text)}
			}
		}
		d.given[i].Set = set
	}
	for i, r := range d.records {
		r.Key, r.Value, r.Result = of(r.Key), of(r.Value), of(r.Result)
		r.Headers = slices.Clone(r.Headers)
		for j, h := range r.Headers {
			r.Headers[j].Value = of(h.Value)
		}
		d.records[i] = r
	}
}

// shown is the place of the first record of the event that is applied, else of the first one.
func (d *draft) shown(rows []model.Row, log []seedlog.Record) int {
	first := -1
	in := d.begin(rows)
	for i, r := range log {
		out := d.apply(in, log[:i+1], i)
		switch {
		case r.Event != d.event.GoName:
		case out.Kind == oracle.Applied:
			return i
		case first < 0:
			first = i
		}
	}
	return first
}

// leaves is what the last of the records does: its outcome, and the rows that are there behind it
// and were not before.
func (d *draft) leaves(rows []model.Row, records []seedlog.Record) []string {
	in := d.begin(rows)
	last := len(records) - 1
	for i := range last {
		d.apply(in, records[:i+1], i)
	}
	before := d.rows(in)
	out := d.apply(in, records, 3600) // at one time, however many are before it
	left := []string{out.Kind.String() + " " + out.Class}
	for _, row := range d.rows(in) {
		if !slices.Contains(before, row) {
			left = append(left, row)
		}
	}
	return left
}

func (d *draft) rows(in *oracle.Interpreter) (lines []string) {
	for _, t := range d.service.Tables {
		for _, row := range in.Rows(t.Name) {
			lines = append(lines, t.Name+" "+row)
		}
	}
	return lines
}

func (d *draft) begin(rows []model.Row) *oracle.Interpreter {
	in := oracle.New(d.service)
	for _, r := range rows {
		_ = in.Insert(r) // what is there already is not inserted again
	}
	return in
}

// apply applies the last of the records, which is sent in this second.
func (d *draft) apply(in *oracle.Interpreter, records []seedlog.Record, second int) oracle.Outcome {
	last := len(records) - 1
	r := records[last]
	r.Topic = r.In(d.event.Topic)
	if r.Time.IsZero() {
		r.Time = time.Date(2001, 1, 1, 0, 0, second, 0, time.UTC)
	}
	sent := asRead(d.event.Topic, &r)
	for _, before := range records[:last] {
		if before.In(d.event.Topic) == r.Topic {
			sent.Offset++
		}
	}
	out := in.Apply(sent)
	if out.Kind == oracle.Stop {
		in.Release(r.Topic, 0)
	}
	return out
}

// fewest drops each of the first n items that enough does not need.
func fewest[T any](items []T, n int, enough func([]T) bool) []T {
	for i := n - 1; i >= 0; i-- {
		if less := slices.Delete(slices.Clone(items), i, i+1); enough(less) {
			items = less
		}
	}
	return items
}

func (d *draft) text() []byte {
	var b bytes.Buffer
	b.WriteString(`# yaml-language-server: $schema=../../.idemgen/idemgen.case.v1.schema.json
# The rows expected after these records. docs/keys.md of idemgen describes every key.
`)
	fmt.Fprintf(&b, "description: What this case tests of %s.\n", d.event.Name)
	d.writeGiven(&b)
	b.WriteString("\n# The records, in the order in which the producer sends them. For a duplicate, repeat the lines.\nevents:\n")
	for i := range d.records {
		d.writeRecord(&b, &d.records[i])
	}
	b.WriteString("\n# The expected rows: all rows of a table, or their number. Other tables are not compared.\n")
	d.writeThen(&b)
	return b.Bytes()
}

// writeGiven writes the rows that the steps need. What Go code needs, its author knows.
func (d *draft) writeGiven(b *bytes.Buffer) {
	switch {
	case len(d.given) == 0 && !d.event.HasCode():
		return
	case len(d.given) == 0:
		fmt.Fprintf(b, "\n# Rows that exist before: write those that the Go code of %s needs, in the form of then.\n#given:\n", d.event.Name)
		return
	}
	b.WriteString("\n# Rows that exist before, by table.\n")
	b.WriteString("given:\n")
	for _, t := range d.service.Tables {
		of := slices.DeleteFunc(slices.Clone(d.given), func(r model.Row) bool { return r.Table != t })
		if len(of) > 0 {
			fmt.Fprintf(b, "  %s:\n", t.Name)
		}
		for _, r := range of {
			var cells []string
			for _, a := range r.Set {
				value := "null"
				if a.Value.Kind == model.ConstValue {
					value, _ = oracle.Constant(a.Column, a.Value.Const.Text) // it was inserted
					value = cellText(value)
				}
				cells = append(cells, a.Column.Name+": "+value)
			}
			fmt.Fprintf(b, "    - {%s}\n", strings.Join(cells, ", "))
		}
	}
}

func (d *draft) writeRecord(b *bytes.Buffer, r *seedlog.Record) {
	t := d.event.Topic
	fmt.Fprintf(b, "  - topic: %s\n", r.In(t))
	if r.Key != nil {
		key := scalarText(string(r.Key))
		if t.RecordKey != nil && t.RecordKey.JSON {
			key = flow(r.Key)
		}
		fmt.Fprintf(b, "    key: %s\n", key)
	}
	if len(r.Headers) > 0 {
		var headers []string
		for _, h := range r.Headers {
			value := "null"
			if h.Value != nil {
				value = scalarText(string(h.Value))
			}
			headers = append(headers, scalarText(h.Name)+": "+value)
		}
		fmt.Fprintf(b, "    headers: {%s}\n", strings.Join(headers, ", "))
	}
	if !r.Time.IsZero() {
		fmt.Fprintf(b, "    timestamp: %s\n", r.Time.Format(time.RFC3339Nano))
	}
	switch {
	case r.Value == nil:
		b.WriteString("    value: null\n")
	case json.Valid(r.Value):
		b.WriteString("    value:" + block(r.Value) + "\n")
	default:
		fmt.Fprintf(b, "    text: %s\n", strconv.QuoteToGraphic(string(r.Value)))
	}
	switch {
	case r.Result != nil:
		fmt.Fprintf(b, "    result: %s # the result of the effect's call\n", flow(r.Result))
	case r.Error != "":
		fmt.Fprintf(b, "    error: %s\n", scalarText(r.Error))
	case r.Interrupted != "":
		fmt.Fprintf(b, "    interrupted: %s\n", scalarText(r.Interrupted))
	}
}

// writeThen writes as comments what the steps of the spec leave: what a case says is its author's.
// Tables that only a Go handler may write are blanks to fill in.
func (d *draft) writeThen(b *bytes.Buffer) {
	in := d.begin(d.given)
	for i := range d.records { // a case sends one each second
		d.apply(in, d.records[:i+1], i)
	}
	if d.event.Handle {
		fmt.Fprintf(b, `# idemgen does not know what the Go handler of %s does. Fill in what it leaves in place of "...",
# and remove the tables that it does not write. If it must refuse the event: dead_letters: {handler: 1}.
`, d.event.Name)
	}
	b.WriteString("then:\n")
	empty := len(d.rows(in)) == 0
	for _, t := range d.service.Tables {
		columns, rows := in.Columns(t.Name), in.Values(t.Name)
		switch {
		case d.event.Handle && (len(rows) == 0 || !d.writes(t)):
			rows = [][]string{nil}
		case len(rows) == 0 && !empty:
			continue
		}
		writeRows(b, t.Name, columns, rows)
	}
	if d.event.Effect != nil {
		fmt.Fprintf(b, "#  calls: {%s: 1}\n", d.event.Name)
	}
}

// writes reports whether a step of the event writes a table.
func (d *draft) writes(t *model.Table) bool {
	return slices.ContainsFunc(d.event.Steps, func(s *model.Step) bool { return s.Table == t })
}

// writeRows writes as comments the rows of a table; nil is one to fill in.
func writeRows(b *bytes.Buffer, table string, columns []string, rows [][]string) {
	switch {
	case len(columns) == 0 && len(rows) == 1 && rows[0] == nil:
		fmt.Fprintf(b, "#  %s: ...\n", table)
		return
	case len(rows) == 0 || len(columns) == 0:
		fmt.Fprintf(b, "#  %s: %d\n", table, len(rows))
		return
	}
	fmt.Fprintf(b, "#  %s:\n", table)
	for _, row := range rows {
		var cells []string
		for i, column := range columns {
			value := "..."
			if row != nil {
				value = cellText(row[i])
			}
			cells = append(cells, column+": "+value)
		}
		fmt.Fprintf(b, "#    - {%s}\n", strings.Join(cells, ", "))
	}
}
