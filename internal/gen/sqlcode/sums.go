package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// sums are what the events of a batch add, one row for each row of the table.
type sums struct {
	step    *model.Step
	Name    string
	Keys    []string // columns that tell its rows apart
	Source  string   // the events, one row each
	Columns []string
	First   bool // a new row takes what the first event says
	Group   []string
	Order   []string
	keys    []model.Assign // of Keys
}

func isSum(a model.Assign) bool { return a.How == model.Adds || a.How == model.Subtracts }

func (s *sums) write() error {
	s.First = slices.ContainsFunc(s.step.Set, keepsSent)
	ordinal := ""
	if s.First {
		ordinal = s.free("ordinal")
	}
	s.Source = events(s.step, s.Name, s.free("one"), ordinal)
	over, err := s.group()
	if err != nil {
		return err
	}
	if s.First {
		s.Order = append(slices.Clone(s.Keys), ordinal)
	}
	return s.addUp(over)
}

// free is a name that no column of the table has.
func (s *sums) free(name string) string {
	return ident(free(name, func(name string) bool { return hasColumn(s.step.Table, name) }))
}

// group writes the key columns. It returns the window of the events of one row, if what the first
// of them says counts.
func (s *sums) group() (over string, err error) {
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
	if !s.First {
		return "", nil
	}
	return " OVER (PARTITION BY " + list(keys) + ")", nil
}

// addUp writes the sums of each row, and what its first event says.
func (s *sums) addUp(over string) error {
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
		sum := "sum(" + value + ")"
		if a.How == model.Subtracts {
			sum = "-" + sum
		}
		s.Columns = append(s.Columns, sum+over+" AS "+columnIdent(a.Column))
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
