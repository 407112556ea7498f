package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func init() {
	verbs["upsert"] = func(s *model.Step) (string, error) {
		in, err := newInsertion(s)
		if err != nil {
			return "", err
		}
		in.Conflict = idents(s.By)
		for _, a := range s.Set {
			if a.How == model.Overwrites && !slices.Contains(s.By, a.Column) {
				name := columnIdent(a.Column)
				in.Update = append(in.Update, name+" = excluded."+name)
			}
		}
		if s.If.Newer != nil {
			in.Alias = "t"
			in.Guard = newer(s.If.Newer, "excluded."+columnIdent(s.If.Newer))
		}
		if s.Collapse {
			in.collapse()
		}
		if slices.ContainsFunc(s.Set, isPatch) {
			if err := in.patch(); err != nil {
				return "", err
			}
		}
		return in.counted()
	}
}

func keepsSent(a model.Assign) bool { return a.How == model.Keeps && a.Value.Sent() }

// keepFirst lets a new row take what the first of its events says of the columns that keep what
// they hold.
func (in *insertion) keepFirst() {
	taken := func(name string) bool { return hasColumn(in.step.Table, name) }
	number := ident(free("n", taken))
	rows := append(slices.Clone(in.sent), in.position()+" AS "+number)
	from := ""
	if in.From != "" {
		from = "\n    FROM " + in.From
	}
	in.From = "(\n    SELECT\n" + lines(8, rows) + from + "\n) AS e"
	window := ""
	if keys := in.sentKeys(); len(keys) > 0 { // constants are the same in every row
		window = "PARTITION BY " + list(keys) + " "
	}
	for i, a := range in.step.Set {
		name := columnIdent(a.Column)
		switch {
		case keepsSent(a):
			in.Select[i] = "first_value(" + name + ") OVER (" + window + "ORDER BY " + number + ") AS " + name
		case a.Value.Sent():
			in.Select[i] = name
		}
	}
	in.number = number
}

// collapse keeps one row of each key: Postgres refuses to change a row twice in one statement.
func (in *insertion) collapse() {
	in.Distinct = slices.Clone(in.Order)
	if slices.ContainsFunc(in.step.Set, keepsSent) {
		in.keepFirst()
	}
	if newer := in.step.If.Newer; newer != nil { // the newest wins; of equals the first
		in.Order = append(in.Order, columnIdent(newer)+" DESC", in.position())
	} else { // the last wins
		in.Order = append(in.Order, in.position()+" DESC")
	}
}
