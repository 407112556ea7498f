package sqlcode

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// match is a statement on rows that are there, as its template prints it: the rows of the events,
// and how each finds its row of the table. Every name in it is quoted where needed.
type match struct {
	Events string   // the rows that the events ask for
	Select []string // of Events
	Table  string
	Alias  string
	Key    []string // by which a row of Events finds its row, without if_newer
	Asked  []string // Key and if_newer
	found
}

func newMatch(s *model.Step) (*match, error) {
	own := func(name string) bool { return name == s.Table.InDatabase() }
	m := &match{Events: free("e", own), Table: tableIdent(s.Table), Alias: "t"}
	m.rows(s)
	for _, a := range s.Where {
		value := m.Events + "." + columnIdent(a.Column)
		if !a.Value.Sent() {
			text, err := fixed(a)
			if err != nil {
				return nil, err
			}
			value = text
		}
		m.Key = append(m.Key, m.Alias+"."+columnIdent(a.Column)+" = "+value)
	}
	m.Asked = m.Key
	if s.If.Newer != nil {
		guard := newer(s.If.Newer, m.Events+"."+columnIdent(s.If.Newer))
		if s.If.Newer.Nullable {
			guard = "(" + guard + ")"
		}
		m.Asked = append(m.Key[:len(m.Key):len(m.Key)], guard)
	}
	var err error
	m.found, err = find(s, m.Events, m.Asked, own)
	return m, err
}

// missing is why a step is refused that finds no row, and the table. Where may ask for more than a
// key of it.
func missing(s *model.Step) string {
	var by []*model.Column
	for _, a := range s.Where {
		by = append(by, a.Column)
	}
	reason, exactly := "no row with this key", func(key []*model.Column) bool { return model.SameColumns(key, by) }
	if !exactly(s.Table.PrimaryKey) && !slices.ContainsFunc(s.Table.Unique, exactly) {
		reason += " that meets where"
	}
	return quote(reason) + ",\n    " + quote(s.Table.Name)
}

// rows writes the rows that the events ask for.
func (m *match) rows(s *model.Step) {
	list := selection{step: s}
	list.params()
	m.Select = list.items
}
