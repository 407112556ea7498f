package sqlcode

import "github.com/idemgen/idemgen/internal/gen/model"

func init() {
	verbs["delete"] = func(s *model.Step) (string, error) {
		m, err := newMatch(s)
		if err != nil {
			return "", err
		}
		return render("delete", newDeletion(s, m))
	}
}

// deletion is a DELETE as its template prints it. It is refused if rows that it should delete are
// there afterwards: a trigger or a view may keep one silently. A row that is not there, or that
// another transaction has deleted meanwhile, is no error.
type deletion struct {
	match
	Deleted string   // the rows that it deleted
	Many    bool     // an event may delete several
	Reason  string   // the row of idem_step_refused
	Left    string   // a query of the rows that should be deleted, for idem_left
	Sent    []string // the parameters as texts
}

func newDeletion(s *model.Step, m *match) *deletion {
	d := &deletion{match: *m, Deleted: free("d", func(name string) bool { return name == s.Table.InDatabase() }), Many: s.Many}
	d.Reason = quote("the database did not delete the row") + ",\n    " + quote(s.Table.Name)
	rows := selection{step: s, ofTexts: true}
	rows.params()
	d.Left = quote("SELECT FROM " + d.Table + " AS " + d.Alias + ", (SELECT " + list(rows.items) + ") AS " + d.Events + " WHERE " + all(0, d.Asked))
	for i, p := range s.Params() {
		d.Sent = append(d.Sent, "$"+itoa(i+1)+"::"+paramType(s.TypeOf(p.Value), p.Column)+"[]::text")
	}
	return d
}
