package sqlcode

import (
	"github.com/idemgen/idemgen/generator/model"
)

// joined are the steps whose rows a statement takes.
func joined(s *model.Step) []*model.Step {
	if len(s.Joined) > 0 {
		return s.Joined
	}
	return []*model.Step{s}
}

// stepName is the column that tells whose row it is: the number of one of them.
func stepName(s *model.Step) string {
	return ident(free("step", func(name string) bool { return hasColumn(s.Table, name) }))
}

// of is the condition that a row is of one of those steps for which is holds; "" if it holds for
// all of them, or for none.
func of(s *model.Step, is func(*model.Step) bool) (condition string, some bool) {
	var numbers []string
	for i, st := range joined(s) {
		if is(st) {
			numbers = append(numbers, itoa(i+1))
		}
	}
	if len(numbers) == len(joined(s)) || len(numbers) == 0 {
		return "", len(numbers) > 0
	}
	return stepName(s) + " IN (" + list(numbers) + ")", true
}

// sumOf adds up a value of the rows, with its sign in each step.
func sumOf(s *model.Step, a model.Assign, value string) string {
	minus, some := of(s, func(st *model.Step) bool { return assignTo(st.Set, a.Column).How == model.Subtracts })
	switch {
	case minus != "":
		return "sum(CASE WHEN " + minus + " THEN -(" + value + ")::numeric ELSE " + value + " END)"
	case some:
		return "-sum(" + value + ")"
	}
	return "sum(" + value + ")"
}

// onlyGuarded leaves out the rows of steps to which at_least of the column means nothing.
func onlyGuarded(s *model.Step, c *model.Column) string {
	guards, _ := of(s, func(st *model.Step) bool { return assignTo(st.If.AtLeast, c).Column != nil })
	if guards == "" {
		return ""
	}
	return " FILTER (WHERE " + guards + ")"
}
