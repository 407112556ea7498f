package cases

import (
	"maps"
	"slices"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/oracle"
	"github.com/idemgen/idemgen/generator/seedlog"
)

// logStart is when the first record of a log is sent; the generated test assumes it, too.
var logStart = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// course is what records do to the rows that are there before.
type course struct {
	in    *oracle.Interpreter
	given []model.Row // those that can be there
	dead  []string    // classes, in order
}

func newCourse(s *model.Service, rows []model.Row) *course {
	c := &course{in: oracle.New(s)}
	for _, r := range rows {
		if c.in.Insert(r) == nil {
			c.given = append(c.given, r)
		}
	}
	return c
}

func (c *course) apply(t *model.Topic, r seedlog.Record, i int) {
	at := asRead(t, &r)
	at.Topic = r.In(t)
	at.Offset = int64(i)
	if r.Time.IsZero() {
		at.Time = logStart.Add(time.Duration(i) * time.Second)
	}
	if out := c.in.Apply(at); out.Kind == oracle.DeadLetter || out.Kind == oracle.Conflict {
		c.dead = append(c.dead, out.Class)
	}
}

// turns is how many values of a column are tried.
const turns = 4

// telling returns a way to the event behind which every column that it writes has another value
// than before, as far as there is one: a step that does not write it would not pass. So rows get
// another value where the event has theirs already.
func telling(s *model.Service, e *model.Event) ([]model.Row, []seedlog.Record) {
	others := seedlog.Others{}
	rows, log := seedlog.Way(s, e, others)
	repeated, dead := repeats(s, e, rows, log)
	for n := 0; n < turns && len(repeated) > 0; n++ {
		for c := range repeated {
			others[c]++
		}
		repeated, _ = next(s, e, others)
	}
	maps.DeleteFunc(others, func(c *model.Column, _ int) bool { return repeated[c] })
	if _, more := next(s, e, others); len(more) > len(dead) {
		return rows, log
	}
	return seedlog.Way(s, e, others)
}

func next(s *model.Service, e *model.Event, others seedlog.Others) (map[*model.Column]bool, []string) {
	rows, log := seedlog.Way(s, e, others)
	return repeats(s, e, rows, log)
}

// repeats finds the columns that the event writes and that have, in every row that stays, the
// value that they had; and what became a dead letter.
func repeats(s *model.Service, e *model.Event, rows []model.Row, log []seedlog.Record) (map[*model.Column]bool, []string) {
	c := newCourse(s, rows)
	var before map[string]map[*model.Column]string
	for i, r := range log {
		before = c.rows(e)
		c.apply(e.Topic, r, i)
	}
	after, out := c.rows(e), map[*model.Column]bool{}
	for _, step := range e.Steps {
		for _, a := range step.Set {
			stays, differs := false, false
			for key, row := range before {
				old, had := row[a.Column]
				now, has := after[key][a.Column]
				stays, differs = stays || had && has, differs || had && has && old != now
			}
			if stays && !differs && !slices.Contains(step.Table.PrimaryKey, a.Column) {
				out[a.Column] = true
			}
		}
	}
	return out, c.dead
}

// rows are those of the tables that the event writes, by table and primary key.
func (c *course) rows(e *model.Event) map[string]map[*model.Column]string {
	out := map[string]map[*model.Column]string{}
	for _, step := range e.Steps {
		for _, cells := range c.in.Cells(step.Table.Name) {
			key, row := step.Table.Name, map[*model.Column]string{}
			for _, cell := range cells {
				value := "NULL"
				if !cell.Null {
					value = "=" + cell.Text
				}
				row[cell.Column] = value
				if slices.Contains(step.Table.PrimaryKey, cell.Column) {
					key += value
				}
			}
			out[key] = row
		}
	}
	return out
}
