package sqlcode

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// verbs write the statement of a step, each its own. Each verb has a file of its own, which puts
// it here.
var verbs = map[string]func(*model.Step) (string, error){}

// Step returns the statement of a step, without a semicolon. Its parameters are arrays
// of equal length, one element per row, in the order of [model.Step.Params].
func Step(s *model.Step) (string, error) {
	text, err := verbs[s.Verb](s)
	if err != nil {
		return "", fmt.Errorf("event %s, table %s: %w", s.Event.Name, s.Table.Name, err)
	}
	return text, nil
}

// selection is a select list that makes a row of every element of the parameters.
type selection struct {
	step    *model.Step
	items   []string
	sent    int  // parameters so far
	ofTexts bool // the parameters are texts in an array, $1
}

// params makes each parameter an item.
func (l *selection) params() {
	for _, p := range l.step.Params() {
		name := "p" // of positions: every value is fixed
		if p.Column != nil {
			name = p.Column.InDatabase()
		}
		l.add(p, ident(name))
	}
}

// add makes the next parameter an item under a name.
func (l *selection) add(a model.Assign, name string) {
	l.sent++
	column := a.Column
	if a.Value.Kind == model.SentValue {
		column, name = nil, ident(sentFlag(l.step.Table, a.Column))
	}
	value := "$" + itoa(l.sent)
	if l.ofTexts {
		value = "($1)[" + itoa(l.sent) + "]"
	}
	l.items = append(l.items, rowsOf(value, l.step.TypeOf(a.Value), column)+" AS "+name)
}

// fixed is the value of an assignment that is not sent, for a place that knows the type.
func fixed(a model.Assign) (string, error) {
	switch a.Value.Kind {
	case model.NowValue:
		return "now()", nil
	case model.NullValue:
		return "NULL", nil
	}
	if a.Column.Type.Kind == model.ColReal { // compared with a numeric, a real becomes a double
		return typedLiteral(a.Column.Type, a.Value.Const)
	}
	return literal(a.Column.Type, a.Value.Const)
}

// newer is the guard of if_newer: a stored NULL counts as older.
func newer(c *model.Column, sent string) string {
	stored := "t." + columnIdent(c)
	guard := stored + " < " + sent
	if c.Nullable {
		return stored + " IS NULL OR " + guard
	}
	return guard
}

func hasColumn(t *model.Table, name string) bool {
	return slices.ContainsFunc(t.Columns, func(c *model.Column) bool { return c.InDatabase() == name })
}
