package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

type deadLetter struct {
	topic     string
	partition int32
	offset    int64
	class     string
	path      string
}

// Rows returns one line per row of a table, in primary key order, in the form that the
// package comment describes; nil if the table does not exist or is empty.
func (in *Interpreter) Rows(table string) []string {
	t := in.tables.named(table)
	if t == nil {
		return nil
	}
	columns := in.Columns(table)
	var lines []string
	for _, row := range in.Values(table) {
		for i := range row {
			row[i] = columns[i] + "=" + row[i]
		}
		lines = append(lines, strings.Join(row, "  "))
	}
	return lines
}

// Values returns the values of each row of a table, in the order of Columns.
func (in *Interpreter) Values(table string) (rows [][]string) {
	t := in.tables.named(table)
	if t == nil {
		return nil
	}
	shown := in.shown(t)
	for _, r := range t.sorted() {
		row := []string{}
		for i, c := range t.def.Columns {
			if shown[c] {
				row = append(row, format(c.Type, r.cells[i]))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Columns names the columns of a table that Rows prints: all but those that the database
// fills in some row.
func (in *Interpreter) Columns(table string) []string {
	t := in.tables.named(table)
	if t == nil {
		return nil
	}
	shown := in.shown(t)
	var names []string
	for _, c := range t.def.Columns {
		if shown[c] {
			names = append(names, c.Name)
		}
	}
	return names
}

// DeadLetters returns one line "partition offset class path" per dead letter, by topic,
// partition and offset; for no path stands "the payload" if the class is decode, else "-".
func (in *Interpreter) DeadLetters() []string {
	dead := slices.Clone(in.dead)
	slices.SortFunc(dead, func(a, b deadLetter) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition), cmp.Compare(a.offset, b.offset))
	})
	var lines []string
	for _, d := range dead {
		lines = append(lines, fmt.Sprintf("%d %d %s %s", d.partition, d.offset, d.class, cmp.Or(d.path, noPath(d.class))))
	}
	return lines
}

func noPath(class string) string {
	if class == ClassDecode {
		return "the payload"
	}
	return "-"
}

func (s *store) named(name string) *table {
	for _, t := range s.order {
		if t.def.Name == name {
			return t
		}
	}
	return nil
}

// shown says which columns can be compared: the spec never lets the database fill them,
// and no handler did.
func (in *Interpreter) shown(t *table) map[*model.Column]bool {
	shown := map[*model.Column]bool{}
	for i, c := range t.def.Columns {
		shown[c] = !c.ByDatabase() && !in.filled[c]
		for r := range t.rows {
			if _, ok := r.cells[i].(filled); ok {
				shown[c] = false
			}
		}
	}
	return shown
}

// filledByDatabase are the columns that some step of the service lets the database fill:
// {now: true}, or a function as default of a column that an insert or upsert leaves out.
// Columns that the database alone fills come on top.
func filledByDatabase(s *model.Service) map[*model.Column]bool {
	filled := map[*model.Column]bool{}
	for _, topic := range s.Topics {
		for _, e := range topic.Events {
			for _, step := range e.Steps {
				for _, c := range step.Table.Columns {
					if fills(step, c) {
						filled[c] = true
					}
				}
			}
		}
	}
	return filled
}

func fills(s *model.Step, c *model.Column) bool {
	at := slices.IndexFunc(s.Set, func(a model.Assign) bool { return a.Column == c })
	if at >= 0 && !s.Set[at].Value.Patch() {
		return s.Set[at].Value.Kind == model.NowValue
	}
	return verbs[s.Verb].fills && s.If.Missing == "" && c.Default != nil && c.Default.Func != ""
}
