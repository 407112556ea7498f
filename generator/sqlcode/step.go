package sqlcode

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// Step returns the statement of a step, without a semicolon. Its parameters are arrays
// of equal length, one element per row, in the order of [model.Step.Params].
func Step(s *model.Step) (string, error) {
	text, err := step(s)
	if err != nil {
		return "", fmt.Errorf("event %s, table %s: %w", s.Event.Name, s.Table.Name, err)
	}
	return text, nil
}

func step(s *model.Step) (string, error) {
	st := newStatement(s)
	switch s.Verb {
	case model.Insert, model.Upsert:
		if err := st.insert(); err != nil {
			return "", err
		}
		return render("insert", st)
	case model.Update:
		if err := st.update(); err != nil {
			return "", err
		}
		return render("update", st)
	}
	if err := st.delete(); err != nil {
		return "", err
	}
	return render("delete", st)
}

// statement is what the templates print; every name in it is quoted where needed.
type statement struct {
	step *model.Step

	Events   string // the rows that the events ask for
	Found    string // the rows that an update found
	Table    string
	Alias    string
	Select   []string // of Events
	Order    []string
	Ordinal  string   // column of Events that numbers them, if the statement needs it
	Columns  []string // of an insert
	By       []string // conflict key of an insert
	Distinct []string
	Update   []string
	Guard    string   // if_newer of an upsert
	Where    []string // of update and delete, with if_newer
	Key      []string // Where without if_newer
	Missing  string   // what idem_row_missing says; "" if a missing row is no error

	sent int // parameters so far
}

func newStatement(s *model.Step) *statement {
	own := func(name string) bool { return name == s.Table.Name }
	return &statement{
		step:   s,
		Events: free("e", own),
		Found:  free("u", own),
		Table:  ident(s.Table.Name),
		Alias:  "t",
	}
}

// add makes the next parameter a column of Events, and returns its name.
func (st *statement) add(a model.Assign) string {
	st.sent++
	name := ""
	if a.Column == nil {
		name = ident(free("n", st.hasColumn))
		st.Ordinal = name
	} else {
		name = ident(a.Column.Name)
	}
	st.Select = append(st.Select, param(st.sent, st.step.TypeOf(a.Value), a.Column)+" AS "+name)
	return name
}

func (st *statement) hasColumn(name string) bool {
	return slices.ContainsFunc(st.step.Table.Columns, func(c *model.Column) bool { return c.Name == name })
}

// number makes the ordinal of the rows the last column of Events.
func (st *statement) number() string {
	if st.Ordinal == "" {
		first := st.step.Params()[0]
		st.Ordinal = ident(free("n", st.hasColumn))
		sent := paramType(st.step.TypeOf(first.Value), first.Column)
		st.Select = append(st.Select, "generate_subscripts($1::"+sent+"[], 1) AS "+st.Ordinal)
	}
	return st.Ordinal
}

// fixed is the value of an assignment that is not sent, for a place that knows the type.
func fixed(a model.Assign) (string, error) {
	switch a.Value.Kind {
	case model.NowValue:
		return "now()", nil
	case model.NullValue:
		return "NULL", nil
	}
	return literal(a.Column.Type, a.Value.Const)
}

// typedFixed is the same for a select list, which does not know the type.
func typedFixed(a model.Assign) (string, error) {
	switch a.Value.Kind {
	case model.NowValue:
		return "now()", nil
	case model.NullValue:
		return "NULL::" + castType(a.Column.Type), nil
	}
	return typedLiteral(a.Column.Type, a.Value.Const)
}
