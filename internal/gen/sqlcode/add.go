package sqlcode

import (
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
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
	Lock      string   // the query that locks the rows of Update first; "" if no other partition changes them
	Update    string   // the statement on rows that are there; "" if Insert does both
	Insert    string   // the statement on rows that are missing; "" if they stay so
	Missing   string   // what idem_step_refused is told; "" if a missing row is no error
	Made      string   // the rows that Insert wrote
	Lost      string   // what idem_step_refused is told if it did not write each
	Done      string   // the rows of the table that Update changed
	Returning []string // of Done
	Match     []string // by which a row of the sums finds its row of Done
	where     []string // by which a row of the sums finds its row of the table
}

func newAddition(s *model.Step) (*addition, error) {
	own := func(name string) bool { return name == s.Table.Name || name == "t" }
	a := &addition{step: s, Table: tableIdent(s.Table), Done: free("u", own), Made: free("w", own), Lost: notWritten(s)}
	a.Sums = &sums{step: s, Name: free("e", own)}
	if err := a.find(); err != nil {
		return nil, err
	}
	if err := a.Sums.write(); err != nil {
		return nil, err
	}
	if s.If.Missing == "error" {
		a.Missing = missing(s)
	}
	a.match()
	return a, a.change()
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

// match lets Update tell which rows it found.
func (a *addition) match() {
	for _, k := range a.Sums.Keys {
		a.Returning = append(a.Returning, "t."+k)
		a.Match = append(a.Match, a.Done+"."+k+" = "+a.Sums.Name+"."+k)
	}
	if len(a.Returning) == 0 {
		a.Returning = []string{"true AS done"}
	}
}

// change writes the statements on the table. ON CONFLICT checks the constraints of the row that it
// would insert, also where one is there: so of sums that may be negative, only those of rows that
// are missing go there.
func (a *addition) change() (err error) {
	if !a.step.Makes || slices.ContainsFunc(a.step.Set, mayFall) {
		own := func(name string) bool { return name == a.step.Table.Name || name == "t" }
		rows, err := find(a.step, a.Sums.Name, a.where, own)
		if err != nil {
			return err
		}
		a.Lock = rows.Lock
		data := map[string]any{"Table": a.Table, "From": rows.From, "Update": a.update(a.Sums.Name + "."), "Where": rows.Where}
		if a.Update, err = render("add_update", data); err != nil {
			return err
		}
	}
	if a.step.Makes {
		a.Insert, err = a.insert()
	}
	return err
}

// mayFall reports whether the column may get a lower value: by all but a positive constant.
func mayFall(a model.Assign) bool {
	return a.How == model.Subtracts || a.How == model.Adds && (a.Value.Sent() || strings.HasPrefix(a.Value.Const.Text, "-"))
}

// insert makes the rows that are missing.
func (a *addition) insert() (string, error) {
	var columns, values []string
	for _, as := range a.step.Set {
		name := columnIdent(as.Column)
		columns = append(columns, name)
		if as.How != model.Keeps || as.Value.Sent() {
			values = append(values, name)
			continue
		}
		text, err := typedFixed(as)
		if err != nil {
			return "", err
		}
		values = append(values, text+" AS "+name)
	}
	return render("add_insert", map[string]any{
		"Table": a.Table, "Columns": columns, "Select": values, "Events": a.Sums.Name, "Keys": a.Sums.Keys, "Update": a.update("excluded."),
		"Missing": a.notThere(),
	})
}

// notThere is the condition that a row is not there, for an insert behind an update.
func (a *addition) notThere() string {
	if a.Update == "" {
		return ""
	}
	return "NOT EXISTS (SELECT FROM " + a.Done + " WHERE " + all(0, a.Match) + ")"
}

func (a *addition) update(from string) (out []string) {
	for _, as := range a.step.Set {
		if isSum(as) {
			name := columnIdent(as.Column)
			out = append(out, name+" = t."+name+" + "+from+name)
		}
	}
	return out
}
