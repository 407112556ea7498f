package sqlcode

import "github.com/idemgen/idemgen/internal/gen/model"

// found is how a statement finds the rows that it changes. Every name in it is quoted where
// needed.
type found struct {
	Lock  string   // the query that locks them first; "" if no other partition changes them
	From  []string // what the statement joins with its table
	Where []string
}

// find returns how a step's statement finds its rows: events are what asks for them, and where the
// conditions by which each finds its row. own reports whether a name is taken.
//
// UPDATE ... FROM and DELETE ... USING lock rows in the order in which the plan joins them, which
// is another one for each plan and each moment. Two partitions that change the same rows would
// wait for each other, until the server ends one of them after its deadlock_timeout of a second.
// So the rows are locked first, by their primary key. An INSERT locks them in the order of its
// SELECT.
func find(s *model.Step, events string, where []string, own func(string) bool) (found, error) {
	f := found{From: []string{events}, Where: where[:len(where):len(where)]}
	if !s.Contended {
		return f, nil
	}
	locked := free("l", own)
	var key []string
	for _, c := range s.Table.PrimaryKey {
		key = append(key, "t."+columnIdent(c))
		f.Where = append(f.Where, "t."+columnIdent(c)+" = "+locked+"."+columnIdent(c))
	}
	strength := "NO KEY UPDATE"
	if s.Removes {
		strength = "UPDATE"
	}
	f.From = append(f.From, locked)
	var err error
	f.Lock, err = render("lock", map[string]any{
		"Name": locked, "Key": key, "Table": tableIdent(s.Table), "Events": events, "Where": where, "Strength": strength,
	})
	return f, err
}
