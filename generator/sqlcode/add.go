package sqlcode

import (
	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["add"] = func(s *model.Step) (string, error) {
		a, err := newAddition(s)
		if err != nil {
			return "", err
		}
		return render("add", a)
	}
}

// addition is a statement that adds to rows, as its templates print it. It adds up what the events
// of a batch add to one row, and then changes each row once. Every name in it is quoted where
// needed.
type addition struct {
	step      *model.Step
	Sums      *sums
	Table     string
	Done      string   // the rows of the table that were changed
	Change    string   // the statement on the table
	Returning []string // of Done
	Refused   string   // what makes the step fail; "" if nothing does
	Refusal   string   // its name, in a statement that tells
	Tell      string
	where     []string // by which a row of the sums finds its row of the table
}

// refusal is a reason why the step fails, and when.
type refusal struct {
	Row   []string
	From  string
	Where []string
}

func newAddition(s *model.Step) (*addition, error) {
	own := func(name string) bool { return name == s.Table.Name || name == "t" }
	a := &addition{step: s, Table: tableIdent(s.Table), Done: free("u", own), Refusal: free("r", own)}
	a.Sums = &sums{step: s, Name: free("e", own)}
	if err := a.find(); err != nil {
		return nil, err
	}
	if err := a.Sums.write(); err != nil {
		return nil, err
	}
	change, err := a.change()
	if err != nil {
		return nil, err
	}
	a.Change = change
	if refusals := a.refuse(); len(refusals) > 0 {
		if a.Refused, err = render("add_refused", refusals); err != nil {
			return nil, err
		}
	}
	if s.Tells {
		a.Tell, err = tell(s, a.Sums.Name, exists(a.Done, a.match()))
	}
	return a, err
}

// find says by which columns the sums find their row.
func (a *addition) find() error {
	assigns := a.step.Where
	if a.step.Makes {
		assigns = nil
		for _, c := range a.step.By {
			assigns = append(assigns, assignTo(a.step.Set, c))
		}
	}
	for _, as := range assigns {
		name := columnIdent(as.Column)
		value := a.Sums.Name + "." + name
		if as.Value.Sent() || a.step.Makes {
			a.Sums.keys = append(a.Sums.keys, as)
			a.Sums.Keys = append(a.Sums.Keys, name)
		} else {
			text, err := fixed(as)
			if err != nil {
				return err
			}
			value = text
		}
		a.where = append(a.where, "t."+name+" = "+value)
	}
	return nil
}

func assignTo(assigns []model.Assign, c *model.Column) model.Assign {
	for _, as := range assigns {
		if as.Column == c {
			return as
		}
	}
	return model.Assign{}
}

// refuse writes what makes the step fail: rows that are missing, and sums that are below at_least.
func (a *addition) refuse() (refusals []refusal) {
	s, sums, table := a.step, a.Sums, quote(a.step.Table.Name)
	for _, k := range sums.Keys {
		a.Returning = append(a.Returning, "t."+k)
	}
	if s.If.Missing == "error" {
		missing := "NOT EXISTS (SELECT FROM " + a.Done + prefixed(" WHERE ", a.match()) + ")"
		if s.If.Below == "skip" { // what is skipped is there
			missing = "NOT EXISTS (SELECT FROM " + a.Table + " AS t WHERE " + all(0, a.where) + ")"
		}
		refusals = append(refusals, refusal{[]string{"'no row with this key'", table, "NULL"}, sums.Name, []string{missing}})
	}
	for _, g := range guarded(s) {
		name := columnIdent(g.Column)
		a.Returning = append(a.Returning, "t."+name)
		least, _ := fixed(g) // a constant that was read before
		low := a.Done + "." + name + " - " + sums.Name + "." + name + " + " + sums.Name + "." + sums.beside(g.Column, "_low") + " < " + least
		refusals = append(refusals, refusal{[]string{"'a sum below at_least'", table, quote(g.Column.Name)}, a.Done + ", " + sums.Name, append(a.match(), low)})
	}
	if len(a.Returning) == 0 {
		a.Returning = []string{"true AS done"}
	}
	return refusals
}

// match are the conditions by which a changed row finds its sums.
func (a *addition) match() (on []string) {
	for _, k := range a.Sums.Keys {
		on = append(on, a.Done+"."+k+" = "+a.Sums.Name+"."+k)
	}
	return on
}

func prefixed(prefix string, conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return prefix + all(0, conditions)
}
