package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// use is how an event uses rows of a table that other records use, too. Statements and waves of
// two events that use a table alike differ in names and columns only.
type use struct {
	table   *model.Table
	verb    string // of the step, or byHandler; "" if the row is used as parent or child of another
	each    bool   // a row per element of a list
	whole   bool   // the step does not name its rows by the primary key
	newer   bool   // only newer ones
	skip    bool   // what is there, or is not there, is skipped
	cascade bool   // the rows go with their parent
}

// writes is false for a row that is only named as a parent.
func (u use) writes() bool { return u.verb != "" || u.cascade }

// uses are the different uses of an event, in the order of its steps.
func (r *roles) uses(e *model.Event) (out []use) {
	add := func(u use) {
		if !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	for _, s := range r.steps[e] {
		if !r.ownRow(s) {
			add(use{
				table: s.Table, verb: s.Verb, each: s.Each != nil, whole: s.Whole, newer: s.If.Newer != nil,
				skip: s.If.Exists == "skip" || s.If.Missing == "skip",
			})
		}
		for _, t := range s.Cascades {
			add(use{table: t, cascade: true})
		}
		for _, t := range r.parents(s) {
			add(use{table: t})
		}
	}
	return out
}

// ownRow reports whether the step makes a row that no other record uses.
func (r *roles) ownRow(s *model.Step) bool {
	if !s.OnlyMakes() {
		return false
	}
	return slices.ContainsFunc(s.Set, func(a model.Assign) bool {
		return a.Value.Kind == model.FieldValue && slices.Contains(s.Table.PrimaryKey, a.Column) && r.byRecord[byRecord{s.Event, a.Value.Field}]
	}) || slices.ContainsFunc(s.Table.PrimaryKey, func(c *model.Column) bool {
		return !slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == c })
	})
}

// perUse is how many pairs of events meet for each two uses of a table.
const perUse = 9

// pairs are, for each event, those before it that it must meet: two events that use one table,
// where one of them writes. Nine pairs speak for each two ways to use a table; each further event
// meets the first one that uses the table in its way. So the log grows with the uses of the topic,
// and not with their square.
func pairs(t *model.Topic, r *roles) map[*model.Event][]*model.Event {
	type two struct{ a, b use }
	met, first := map[two]int{}, map[use]*model.Event{}
	all := map[*model.Event][]*model.Event{}
	byTable := map[*model.Table]map[use][]*model.Event{} // the events before, by use
	for _, e := range t.Events {
		uses := r.uses(e)
		for _, u := range uses {
			for other, before := range byTable[u.table] {
				if !u.writes() && !other.writes() {
					continue // rows that are only named get in nobody's way
				}
				for _, o := range before[:min(len(before), perUse)] {
					further := u == other && o == first[u]
					if met[two{other, u}] < perUse || further {
						met[two{other, u}]++
						all[e] = append(all[e], o)
					}
				}
			}
		}
		for _, u := range uses {
			if byTable[u.table] == nil {
				byTable[u.table] = map[use][]*model.Event{}
			}
			byTable[u.table][u] = append(byTable[u.table][u], e)
			if first[u] == nil {
				first[u] = e
			}
		}
		place := func(o *model.Event) int { return slices.Index(t.Events, o) }
		slices.SortFunc(all[e], func(a, b *model.Event) int { return place(a) - place(b) })
		all[e] = slices.Compact(all[e])
	}
	return all
}
