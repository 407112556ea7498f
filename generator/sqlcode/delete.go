package sqlcode

import "github.com/idemgen/idemgen/generator/model"

func init() {
	verbs["delete"] = func(s *model.Step) (string, error) {
		m, err := newMatch(s)
		if err != nil {
			return "", err
		}
		if !s.Tells {
			return render("delete", m)
		}
		own := func(name string) bool { return name == s.Table.InDatabase() }
		r := removal{match: *m, Gone: free("g", own), Number: numberName(s)}
		// Of a row that was gone before nothing is left to do: only what is kept is skipped.
		applied := exists(r.Gone, []string{r.Gone + "." + r.Number + " = " + r.Events + "." + r.Number}) +
			" OR NOT EXISTS (SELECT FROM " + r.Table + " AS " + r.Alias + " WHERE " + all(0, r.Key) + ")"
		if r.Tell, err = tell(s, r.Events, applied); err != nil {
			return "", err
		}
		return render("delete_told", r)
	}
}

// removal is a DELETE that tells, as its template prints it.
type removal struct {
	match
	Gone   string // the rows that were deleted
	Number string
	Tell   string
}
