package seedlog

import (
	"slices"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// effect is what an event does, as far as existence of rows goes.
type effect struct {
	steps    []stepEffect
	uses     []use
	keySpace int   // the key space that one record of a row uses up, as an index into state; -1 = none
	needs    []int // tables that must have a row before
	prefers  []int // tables with a row that it deletes or changes if it is there: better with
	makes    []int // tables that have a row afterwards
	cost     int   // how many records it takes on a fresh row, about; endless if the topic cannot
	halts    bool  // a refused record halts the partition
}

const endless = 1 << 20

// stepEffect is one step of it.
type stepEffect struct {
	table    int
	own      bool // makes a row that no other record uses
	makes    bool // the row is there afterwards
	removes  bool // it is not
	needs    bool // it must be there before
	needsNot bool // it must not
	skips    skips
	parents  []int // that must be there afterwards
	gone     []int // rows that go with the removed one
	bars     []int // rows that keep it from being removed
}

// study finds out what the event does.
func (p *planner) study(e *model.Event) *effect {
	d := &effect{keySpace: -1, halts: e.OnFailure.GiveUp == "stop", cost: endless}
	there, gone := map[int]bool{}, map[int]bool{}
	var ran []bool // on a fresh row: what may be skipped for a row that is missing is
	for _, s := range e.Steps {
		t := stepEffect{
			table: p.index[s.Table], own: p.ownRow(s), makes: s.Makes, removes: s.Removes,
			needs: s.If.Missing == "error", needsNot: s.If.Exists == "error", skips: skipsOf(s),
		}
		ran = append(ran, !t.skips.missing || there[t.table])
		switch {
		case s.Makes || there[t.table]:
		case t.needs:
			d.needs = append(d.needs, t.table)
		default:
			d.prefers = append(d.prefers, t.table)
		}
		if s.Removes {
			delete(there, t.table)
			gone[t.table] = true
			t.bars = p.bars[t.table]
		}
		if s.Makes {
			there[t.table] = true
		}
		for _, child := range s.Cascades {
			if cascades(child, s.Table, s.Cascades) {
				t.gone = append(t.gone, p.index[child])
			}
		}
		for _, parent := range p.parents(s) {
			t.parents = append(t.parents, p.index[parent])
		}
		d.steps = append(d.steps, t)
	}
	for i, s := range d.steps {
		for _, parent := range s.parents {
			if ran[i] && !there[parent] && !gone[parent] {
				d.needs = append(d.needs, parent)
			}
		}
	}
	for t := range p.index {
		if there[p.index[t]] {
			d.makes = append(d.makes, p.index[t])
		}
	}
	slices.Sort(d.makes)
	d.uses = p.uses(e)
	return d
}

// ownRow reports whether the step makes a row that no other record uses.
func (p *planner) ownRow(s *model.Step) bool {
	if !s.OnlyMakes() {
		return false
	}
	return slices.ContainsFunc(s.Set, func(a model.Assign) bool {
		return a.Value.Kind == model.FieldValue && slices.Contains(s.Table.PrimaryKey, a.Column) && p.roles.byRecord[byRecord{s.Event, a.Value.Field}]
	}) || slices.ContainsFunc(s.Table.PrimaryKey, func(c *model.Column) bool {
		return !slices.ContainsFunc(s.Set, func(a model.Assign) bool { return a.Column == c })
	})
}

// parents are the tables whose rows the step names.
func (p *planner) parents(s *model.Step) []*model.Table {
	var out []*model.Table
	for _, fk := range s.Table.ForeignKeys {
		named := slices.ContainsFunc(s.Set, func(a model.Assign) bool {
			return slices.Contains(fk.Columns, a.Column) && a.Value.Kind != model.NullValue && !p.roles.absent[a.Value.Field]
		})
		if named {
			out = append(out, fk.References)
		}
	}
	return out
}

// apply tells whether the record would take effect, and what changes then. It follows the steps in
// order as far as existence of rows goes.
func (p *planner) apply(v visit, before state) (changes []change, ok bool) {
	p.work++
	var ran []bool
	has := func(t int) bool {
		for i := len(changes) - 1; i >= 0; i-- {
			if changes[i].at == t {
				return changes[i].on
			}
		}
		return before[t]
	}
	d := p.does[v.event]
	for i := range d.steps {
		s := &d.steps[i]
		runs := !s.skips.now(s, v, has)
		if ran = append(ran, runs); !runs {
			continue
		}
		if s.needsNot && has(s.table) && (!s.own || v.again) || s.needs && !has(s.table) {
			return nil, false
		}
		if s.makes || s.removes {
			changes = append(changes, change{s.table, s.makes})
		}
		for _, t := range s.gone {
			changes = append(changes, change{t, false})
		}
	}
	for i, s := range d.steps { // every parent is there, and no child is left without one
		if !ran[i] {
			continue
		}
		if slices.ContainsFunc(s.bars, has) || slices.ContainsFunc(s.parents, func(t int) bool { return !has(t) }) {
			return nil, false
		}
	}
	if d.keySpace >= 0 {
		changes = append(changes, change{d.keySpace, true})
	}
	return changes, true
}

// cascades reports whether rows of t go with the row of parent.
func cascades(t, parent *model.Table, through []*model.Table) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(fk model.ForeignKey) bool {
		return fk.OnDelete == "cascade" && (fk.References == parent || slices.Contains(through, fk.References))
	})
}

// findBars finds for each table the tables whose rows keep its rows from being deleted.
func (p *planner) findBars() {
	p.bars = make([][]int, len(p.index))
	for _, child := range p.tables {
		for _, fk := range child.ForeignKeys {
			if parent, known := p.index[fk.References]; known && fk.References != child && fk.OnDelete != "cascade" && fk.OnDelete != "set_null" {
				p.bars[parent] = append(p.bars[parent], p.index[child])
			}
		}
	}
}

// findMakers finds for each table the events that make rows of it, the cheapest first, in
// rounds: what the last round made is there for the next.
func (p *planner) findMakers() {
	tableCost := make([]int, len(p.index))
	for i := range tableCost {
		tableCost[i] = endless
	}
	for t := range p.first() {
		tableCost[t] = 0
	}
	for better := true; better; {
		better = false
		for _, e := range p.events {
			d := p.does[e]
			cost := 1
			for _, t := range d.needs {
				cost = min(cost+tableCost[t], endless)
			}
			if cost >= d.cost {
				continue
			}
			d.cost, better = cost, true
			for _, t := range d.makes {
				tableCost[t] = min(tableCost[t], cost)
			}
		}
	}
	p.makers = make([][]*model.Event, len(p.index))
	for _, e := range p.events {
		for _, t := range p.does[e].makes {
			if p.does[e].cost < endless {
				p.makers[t] = append(p.makers[t], e)
			}
		}
	}
	for _, makers := range p.makers {
		slices.SortStableFunc(makers, func(a, b *model.Event) int { return p.does[a].cost - p.does[b].cost })
	}
}
