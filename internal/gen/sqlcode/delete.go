package sqlcode

import "github.com/idemgen/idemgen/internal/gen/model"

func init() {
	verbs["delete"] = func(s *model.Step) (string, error) {
		m, err := newMatch(s)
		if err != nil {
			return "", err
		}
		return render("delete", m)
	}
}
