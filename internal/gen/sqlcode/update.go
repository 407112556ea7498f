package sqlcode

import "github.com/idemgen/idemgen/internal/gen/model"

func init() {
	verbs["update"] = func(s *model.Step) (string, error) {
		m, err := newMatch(s)
		if err != nil {
			return "", err
		}
		own := func(name string) bool { return name == s.Table.InDatabase() }
		up := update{match: *m, Found: free("u", own)}
		for _, a := range s.Set {
			value := m.Events + "." + columnIdent(a.Column)
			if !a.Value.Sent() {
				if value, err = fixed(a); err != nil {
					return "", err
				}
			}
			if isPatch(a) {
				value = patched(m.Events+"."+ident(sentFlag(s.Table, a.Column)), value, m.Alias+"."+columnIdent(a.Column))
			}
			up.Update = append(up.Update, columnIdent(a.Column)+" = "+value)
		}
		if s.If.Missing != "skip" {
			up.Missing = missing(s)
			if s.If.Newer == nil {
				// A stale row is not missing, so with if_newer the table itself is asked. The planner takes
				// generate_subscripts for a thousand rows, and would read the whole table for them.
				up.Ordinal = ident(free("n", func(name string) bool { return hasColumn(s.Table, name) }))
			}
		}
		return render("update", up)
	}
}

// update is an UPDATE as its template prints it.
type update struct {
	match
	Update  []string
	Missing string // what idem_step_refused is told; "" if a missing row is no error
	Found   string // the rows that it found
	Ordinal string // column of Events that numbers them; "" if nothing asks for it
}
