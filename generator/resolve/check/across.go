package check

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// Reported is the draft of one spec of a run, with what is found in it.
type Reported struct {
	Report *schema.Diagnostics
	Draft  *draft.Service
}

// Across reports what two services of a run do to one table: columns that nothing orders (E505),
// additions that an overwrite loses (E513), tables that both make (E613), and owners that are
// called otherwise (E606, W912). Services whose tables are of one library share a database. Names
// say nothing of others: two services may well have tables of one name, each in a database of its
// own.
func Across(run []Reported) {
	checkOwners(run)
	for j, b := range run {
		for _, a := range run[:j] {
			if shareDatabase(a.Draft, b.Draft) {
				checkBoth(b.Report, a.Draft, b.Draft)
			}
		}
	}
}

func shareDatabase(a, b *draft.Service) bool {
	if a.Spec.Library || b.Spec.Library {
		return false
	}
	return slices.ContainsFunc(a.Tables.Kept(), func(t *draft.Table) bool {
		return t.Imported && slices.ContainsFunc(b.Tables.Kept(), func(o *draft.Table) bool { return o.Spec == t.Spec })
	})
}

// oneTable reports whether two tables of one database are the same one.
func oneTable(a, b *draft.Table) bool {
	return a.Spec == b.Spec || a.Model.Schema == b.Model.Schema && a.Model.InDatabase() == b.Model.InDatabase()
}

func checkBoth(report *schema.Diagnostics, a, b *draft.Service) {
	for _, t := range b.Tables.Kept() {
		i := slices.IndexFunc(a.Tables.Kept(), func(o *draft.Table) bool { return oneTable(o, t) })
		if i >= 0 && !t.Model.External && !a.Tables.Kept()[i].Model.External {
			report.Add(t.Spec.Name.Pos, "E613", fmt.Sprintf("table %s is created by consumers %s and %s", wording.Quote(t.Spec.Name.Value), consumer(a), consumer(b)),
				"set owner in one library file")
		}
	}
	for _, st := range b.Steps() {
		told := map[string]bool{}
		for _, other := range a.Steps() {
			if st.Whole && other.Whole && oneTable(st.Table, other.Table) {
				checkSteps(report, a, other, st, told)
			}
		}
	}
}

// checkSteps compares a step with one of another service. It reports each code once, and notes it
// in told.
func checkSteps(report *schema.Diagnostics, a *draft.Service, other, st *draft.Step, told map[string]bool) {
	fail := func(code, message, hint string) {
		if !told[code] {
			report.Add(st.Spec.Verb.Pos, code, message, hint)
		}
		told[code] = true
	}
	there, here := handsOn(other), handsOn(st)
	for _, c := range st.Table.Columns {
		name := c.Model.InDatabase()
		was, is := there[name], here[name]
		at := fmt.Sprintf("column %s of %s", wording.Quote(c.Spec.Name.Value), wording.Quote(st.Spec.Table.Value))
		switch {
		case was == 0 || is == 0 || was == adds && is == adds:
		case was == adds || is == adds:
			does := "overwritten here and added to"
			if is == adds {
				does = "added to here and overwritten"
			}
			fail("E513", fmt.Sprintf("%s is %s by event %s of consumer %s: an overwrite would lose additions", at, does, wording.Quote(other.Event.Spec.Name.Value), consumer(a)),
				"let one kind of step own the column")
		case !guardedAlike(other, st):
			fail("E505", fmt.Sprintf("%s is written from topics %s (consumer %s) and %s, which nothing orders against each other",
				at, wording.Quote(other.Event.Topic.Spec.Name.Value), consumer(a), wording.Quote(st.Event.Topic.Spec.Name.Value)),
				"add if_newer to each of these steps, with one column")
		}
	}
}

// hand is what a step does to a column of a row that is there.
type hand int

const (
	overwrites hand = iota + 1
	adds
)

// handsOn are the columns of rows that are there, by their names in the database, with what the
// step does to them. Those that find the row stay as they are.
func handsOn(st *draft.Step) map[string]hand {
	all := map[string]hand{}
	if !st.Model.Changes {
		return all
	}
	for c, v := range st.Set {
		switch {
		case slices.Contains(st.Model.By, c.Model):
		case v.How == model.Overwrites:
			all[c.Model.InDatabase()] = overwrites
		case v.How == model.Adds || v.How == model.Subtracts:
			all[c.Model.InDatabase()] = adds
		}
	}
	return all
}

// guardedAlike reports whether both steps write only what is newer by one column.
func guardedAlike(a, b *draft.Step) bool {
	x, y := a.Model.If.Newer, b.Model.If.Newer
	return x != nil && y != nil && x.InDatabase() == y.InDatabase()
}

func consumer(d *draft.Service) string {
	if d.Spec.Consumer == nil {
		return "without a name"
	}
	return wording.Quote(d.Spec.Consumer.Value)
}
