package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// sums are what the events of a batch add, one row for each row of the table.
type sums struct {
	step    *model.Step
	Name    string
	Keys    []string // columns that tell its rows apart
	Source  string   // the events, one row each
	Asked   string   // which of them the step is for; all if empty
	Running []string // of the events, with running sums; empty if nobody asks for them
	Columns []string
	First   bool // a new row takes what the first event says
	Group   []string
	Some    bool // without Group: no events are no row
	Order   []string
	keys    []model.Assign // of Keys
	ordinal string         // column that numbers the events
}

// guarded are the columns whose sums must not be below at_least at any time. With if_below: skip
// each event is alone in its statement, which looks at its sum itself.
func guarded(s *model.Step) []model.Assign {
	if s.If.Below != "error" {
		return nil
	}
	return s.If.AtLeast
}

func isSum(a model.Assign) bool { return a.How == model.Adds || a.How == model.Subtracts }

func (s *sums) write() error {
	s.First = slices.ContainsFunc(s.step.Set, keepsSent)
	s.ordinal = s.free("ordinal")
	ordinal := ""
	if s.First || len(guarded(s.step)) > 0 {
		ordinal = s.ordinal
	}
	s.Source, s.Asked = events(s.step, s.Name, s.free("one"), ordinal), asked(s.step)
	s.Some = s.step.Asks && !s.First
	if !s.step.Makes || s.First {
		s.Order = slices.Clone(s.Keys)
	}
	within, err := s.group()
	if err != nil {
		return err
	}
	return s.addUp(within)
}

// free is a name that no column of the table has.
func (s *sums) free(name string) string {
	return ident(free(name, func(name string) bool { return hasColumn(s.step.Table, name) }))
}

// beside is a name like that of a column.
func (s *sums) beside(c *model.Column, suffix string) string { return s.free(c.Name + suffix) }

// group writes the key columns. It returns the window of the events of one row.
func (s *sums) group() (within string, err error) {
	var keys []string
	for _, a := range s.keys {
		value, err := sentOrFixed(s.step, a)
		if err != nil {
			return "", err
		}
		keys = append(keys, value)
		s.Columns = append(s.Columns, named(value, columnIdent(a.Column)))
		if a.Value.Sent() && !s.First { // Postgres groups by no constant
			s.Group = append(s.Group, value)
		}
	}
	if s.First {
		s.Order = append(s.Order, s.ordinal)
	}
	if len(keys) == 0 {
		return "", nil
	}
	return "PARTITION BY " + list(keys), nil
}

// addUp writes the sums of each row, the least of its running sums, and what its first event says.
func (s *sums) addUp(within string) error {
	over := ""
	if s.First {
		over = " OVER (" + within + ")"
	}
	sum := map[*model.Column]string{}
	for _, a := range s.step.Set {
		if !isSum(a) {
			continue
		}
		value := columnIdent(a.Column)
		if !a.Value.Sent() {
			var err error
			if value, err = fixed(a); err != nil {
				return err
			}
		}
		sum[a.Column] = "sum(" + value + ")"
		if a.How == model.Subtracts {
			sum[a.Column] = "-" + sum[a.Column]
		}
		s.Columns = append(s.Columns, sum[a.Column]+over+" AS "+columnIdent(a.Column))
	}
	for _, g := range guarded(s.step) {
		if s.Running == nil {
			s.Running = []string{"*"}
		}
		run := s.beside(g.Column, "_run")
		s.Running = append(s.Running, sum[g.Column]+" OVER ("+strings.TrimSpace(within+" ORDER BY "+s.ordinal)+") AS "+run)
		s.Columns = append(s.Columns, "min("+run+")"+over+" AS "+s.beside(g.Column, "_low"))
	}
	if s.step.Tells { // no other event of the row is in the statement
		s.Columns = append(s.Columns, "min("+numberName(s.step)+")"+over+" AS "+numberName(s.step))
	}
	for _, a := range s.step.Set {
		if keepsSent(a) {
			value, err := sentOrFixed(s.step, a)
			if err != nil {
				return err
			}
			s.Columns = append(s.Columns, named(value, columnIdent(a.Column)))
		}
	}
	return nil
}
