package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["add"] = func(s *model.Step) (string, error) {
		a, err := newAddition(s)
		if err != nil {
			return "", err
		}
		change, err := a.change()
		if err != nil {
			return "", err
		}
		a.Change = change
		a.refusals()
		return render("add", a)
	}
}

// addition is a statement that adds to rows, as its templates print it. It adds up what the events
// of a batch add to one row, and then changes each row once. Every name in it is quoted where
// needed.
type addition struct {
	step   *model.Step
	Table  string
	Events string   // the sums, one row for each row of the table
	Done   string   // the rows of the table that were changed
	Keys   []string // columns of Events that tell its rows apart

	Source  string   // the events, one row each
	Running []string // of the events, with running sums; empty if nobody asks for them
	Sums    []string // of Events
	First   bool     // a new row takes what the first event says
	Group   []string
	Order   []string

	Change    string // the statement on the table
	Returning []string
	Refusals  []refusal

	where   []string       // by which a row of Events finds its row of the table
	keyed   []model.Assign // of Keys
	sums    []model.Assign
	ordinal string // column that numbers the events
}

// refusal is a reason why the step fails, and when.
type refusal struct {
	Row   []string
	From  string
	Where []string
}

func newAddition(s *model.Step) (*addition, error) {
	own := func(name string) bool { return name == s.Table.Name || name == "t" }
	a := &addition{step: s, Table: ident(s.Table.Name), Events: free("e", own), Done: free("u", own)}
	a.ordinal = ident(free("ordinal", func(name string) bool { return hasColumn(s.Table, name) }))
	for _, as := range s.Set {
		if as.How == model.Adds || as.How == model.Subtracts {
			a.sums = append(a.sums, as)
		}
		a.First = a.First || as.How == model.Keeps && as.Value.Sent()
	}
	if err := a.keys(); err != nil {
		return nil, err
	}
	a.source()
	if err := a.addUp(); err != nil {
		return nil, err
	}
	return a, nil
}

// keys finds by which columns the rows of the events find their row.
func (a *addition) keys() error {
	assigns := a.step.Where
	if a.step.Makes {
		assigns = nil
		for _, as := range a.step.Set {
			if slices.Contains(a.step.By, as.Column) {
				assigns = append(assigns, as)
			}
		}
	}
	for _, as := range assigns {
		name := ident(as.Column.Name)
		value := a.Events + "." + name
		if as.Value.Sent() || a.step.Makes {
			a.Keys, a.keyed = append(a.Keys, name), append(a.keyed, as)
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

// source writes the events as rows of what they send.
func (a *addition) source() {
	var arrays, names []string
	for i, p := range a.step.Params() {
		arrays = append(arrays, "$"+itoa(i+1)+"::"+paramType(a.step.TypeOf(p.Value), p.Column)+"[]")
		name := free("one", func(name string) bool { return hasColumn(a.step.Table, name) })
		if p.Column != nil { // else every value is fixed
			name = p.Column.Name
		}
		names = append(names, ident(name))
	}
	numbered := ""
	if a.First || len(a.guarded()) > 0 {
		numbered = " WITH ORDINALITY"
		names = append(names, a.ordinal)
	}
	a.Source = "unnest(" + list(arrays) + ")" + numbered + " AS " + a.Events + " (" + list(names) + ")"
}

// value is what an assignment has for its column, in the column's type.
func (a *addition) value(as model.Assign) (string, error) {
	if !as.Value.Sent() {
		return typedFixed(as)
	}
	return ident(as.Column.Name) + cast(a.step.TypeOf(as.Value), as.Column), nil
}

// guarded are the columns whose sums must not be below at_least at any time; with if_below: skip
// each row is alone in its statement, and its sum is the only one.
func (a *addition) guarded() []model.Assign {
	if a.step.IfBelow != "error" {
		return nil
	}
	return a.step.AtLeast
}

// addUp writes the sums of each row, and the least of its running sums.
func (a *addition) addUp() error {
	var keys []string
	for _, as := range a.keyed {
		value, err := a.value(as)
		if err != nil {
			return err
		}
		keys = append(keys, value)
		if as.Value.Sent() { // Postgres takes no constant there
			a.Group = append(a.Group, value)
		}
		a.Sums = append(a.Sums, named(value, ident(as.Column.Name)))
	}
	a.Order = slices.Clone(a.Keys)
	within, over := "", ""
	if len(keys) > 0 {
		within = "PARTITION BY " + list(keys)
	}
	if a.First {
		over = " OVER (" + within + ")"
		a.Group = nil
		a.Order = append(a.Order, a.ordinal)
	}
	sums := map[*model.Column]string{}
	for _, as := range a.sums {
		value, err := a.value(as)
		if err != nil {
			return err
		}
		sums[as.Column] = "sum(" + value + ")"
		if as.How == model.Subtracts {
			sums[as.Column] = "-" + sums[as.Column]
		}
		a.Sums = append(a.Sums, sums[as.Column]+over+" AS "+ident(as.Column.Name))
	}
	for _, g := range a.guarded() {
		if a.Running == nil {
			a.Running = []string{"*"}
		}
		window := strings.TrimSpace(within + " ORDER BY " + a.ordinal)
		run := a.beside(g.Column, "_run")
		a.Running = append(a.Running, sums[g.Column]+" OVER ("+window+") AS "+run)
		a.Sums = append(a.Sums, "min("+run+")"+over+" AS "+a.beside(g.Column, "_low"))
	}
	for _, as := range a.step.Set {
		if as.How == model.Keeps && as.Value.Sent() {
			value, _ := a.value(as)
			a.Sums = append(a.Sums, named(value, ident(as.Column.Name)))
		}
	}
	return nil
}

// named names a value in a select list, unless it has that name already.
func named(value, name string) string {
	if value == name {
		return name
	}
	return value + " AS " + name
}

// beside is a name like that of a column, which no column has.
func (a *addition) beside(c *model.Column, suffix string) string {
	return ident(free(c.Name+suffix, func(name string) bool { return hasColumn(a.step.Table, name) }))
}
