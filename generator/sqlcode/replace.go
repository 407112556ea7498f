package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["replace"] = func(s *model.Step) (string, error) {
		r, err := newReplacement(s)
		if err != nil {
			return "", err
		}
		return render("replace", r)
	}
}

// replacement is a statement that makes the rows of parents exactly those of the events, as its
// template prints it. Each event sends a row that names its parent alone, so that a list may be
// empty, and one per element. Every name in it is quoted where needed.
type replacement struct {
	Table    string
	Rows     string   // what the events send
	Columns  []string // of Rows
	Source   string
	Asked    string   // which of Source's rows the step is for; all if empty
	IsRow    string   // column of Rows: the row is an element
	Gone     string   // the rows that were removed
	Parent   []string // columns
	OfParent []string // by which a row of the table is one of the parent, and none of the elements
	Names    []string
	Values   []string
	Order    []string
	Key      []string // by which an element is a row that is there; empty if none is
	Update   []string
}

func newReplacement(s *model.Step) (*replacement, error) {
	own := func(name string) bool { return name == s.Table.InDatabase() || name == "t" || name == "p" }
	unused := func(name string) string {
		return ident(free(name, func(name string) bool { return hasColumn(s.Table, name) }))
	}
	r := &replacement{Table: tableIdent(s.Table), Rows: free("e", own), Gone: free("g", own), IsRow: unused("is_row")}
	ordinal := unused("ordinal")
	r.Source, r.Asked = events(s, r.Rows, r.IsRow, ordinal), asked(s)
	for _, as := range slices.Concat(s.Where, s.Set) {
		name := columnIdent(as.Column)
		value, err := sentOrFixed(s, as)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.Where, func(w model.Assign) bool { return w.Column == as.Column }) {
			r.Parent = append(r.Parent, name)
			r.OfParent = append(r.OfParent, "t."+name+" = p."+name)
		} else if !slices.Contains(s.By, as.Column) {
			r.Update = append(r.Update, name+" = excluded."+name)
		}
		r.Names, r.Values = append(r.Names, name), append(r.Values, name)
		r.Columns = append(r.Columns, named(value, name))
	}
	r.Columns = append(r.Columns, r.IsRow, ordinal)
	r.Order = slices.Concat(r.Parent, []string{ordinal})
	r.Key = idents(s.By)
	if len(r.Update) == 0 { // with DO NOTHING, two elements that are one row would pass
		r.Update = []string{r.Parent[0] + " = excluded." + r.Parent[0]}
	}
	if len(s.By) > 0 {
		element := r.Rows + "." + r.IsRow
		for _, c := range s.By {
			element += " AND " + r.Rows + "." + columnIdent(c) + " = t." + columnIdent(c)
		}
		r.OfParent = append(r.OfParent, "NOT EXISTS (SELECT FROM "+r.Rows+" WHERE "+element+")")
	}
	return r, nil
}
