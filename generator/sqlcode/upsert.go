package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

func init() {
	verbs["upsert"] = func(s *model.Step) (string, error) {
		in, err := newInsertion(s)
		if err != nil {
			return "", err
		}
		in.Conflict = idents(s.By)
		for _, a := range s.Set {
			if !slices.Contains(s.By, a.Column) {
				name := ident(a.Column.Name)
				in.Update = append(in.Update, name+" = excluded."+name)
			}
		}
		if s.IfNewer != nil {
			in.Alias = "t"
			in.Guard = newer(s.IfNewer, "excluded."+ident(s.IfNewer.Name))
		}
		if s.Collapse {
			in.collapse()
		}
		return in.render()
	}
}

// collapse keeps one row of each key: Postgres refuses to change a row twice in one statement.
func (in *insertion) collapse() {
	in.Distinct = slices.Clone(in.Order)
	if newer := in.step.IfNewer; newer != nil { // the newest wins; of equals the first
		in.Order = append(in.Order, ident(newer.Name)+" DESC", in.position())
	} else { // the last wins
		in.Order = append(in.Order, in.position()+" DESC")
	}
}
