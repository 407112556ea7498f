package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// written is the statement of an insertion as its template prints it. It is refused unless it
// writes each row that the events sent: a trigger or a view may drop one silently.
type written struct {
	Name   string // of the rows that were written
	Insert string
	Reason string // the row of idem_step_refused
	Sent   string // how many rows were sent
}

// counted is the statement, which counts what it writes, unless an event may write nothing:
// because the row exists, or because it is newer.
func (in *insertion) counted() (string, error) {
	insert, err := in.statement()
	if err != nil || in.Guard != "" || len(in.Conflict) > 0 && len(in.Update) == 0 {
		return insert, err
	}
	s := in.step
	name := free("w", func(name string) bool { return name == s.Table.InDatabase() || name == "t" })
	w := &written{Name: name, Insert: insert, Reason: notWritten(s), Sent: "cardinality($1)"}
	if len(in.Distinct) > 0 {
		keys, err := keysSent(s)
		if err != nil {
			return "", err
		}
		w.Sent = "(SELECT count(*) FROM (SELECT DISTINCT " + list(keys) + ") AS sent)"
	}
	return render("written", w)
}

// notWritten is why a step is refused whose row was not written, and the table.
func notWritten(s *model.Step) string {
	return quote("the database did not write the row") + ",\n    " + quote(s.Table.Name)
}

// keysSent are select items of the unique key by which the events name their rows.
func keysSent(s *model.Step) (items []string, err error) {
	list := selection{step: s}
	for _, p := range s.Params() {
		name := "p" // of positions
		if p.Column != nil {
			name = columnIdent(p.Column)
		}
		if list.add(p, name); !slices.Contains(s.By, p.Column) || p.Value.Kind == model.SentValue {
			list.items = list.items[:len(list.items)-1]
		}
	}
	for _, a := range s.Set {
		if !slices.Contains(s.By, a.Column) || a.Value.Sent() {
			continue
		}
		text, err := typedFixed(a)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, text+" AS "+columnIdent(a.Column))
	}
	return list.items, nil
}
