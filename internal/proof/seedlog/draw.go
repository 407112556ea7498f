package seedlog

import (
	"slices"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// drawer draws the records of a log, row by row. It asks the oracle what becomes of each, and
// keeps those that take effect, and some that the database refuses.
type drawer struct {
	service *model.Service
	topic   *model.Topic
	roles   *roles
	writer  *writer
	in      *oracle.Interpreter
	pairs   map[*model.Event][]*model.Event // those before it that an event meets
	makers  map[*model.Table][]*model.Event

	log     []Record
	before  []model.Row
	seen    map[int]bool // rows whose rows before the log are there
	next    int          // number of the next record
	refused int          // records of the log that the database refuses
	far     bool         // the event that is drawn needs too many others before it

	rows int                   // that were drawn
	row  int                   // that is drawn: what names it is made of its number
	made map[*model.Table]bool // tables that have a row of that number
	// spare are events that make nothing for others on this row, if one record of them uses up the
	// key that they have there.
	spare []*model.Event
}

// firstNumber makes all numbers have six digits.
const firstNumber = 100_001

func newDrawer(s *model.Service, t *model.Topic, given []model.Row) *drawer {
	r := rolesOf(s, t, given)
	d := &drawer{
		service: s, topic: t, roles: r, writer: &writer{seconds: map[int]bool{}, roles: r, topic: t, last: map[int]int{}},
		in: oracle.New(s), pairs: pairs(t, r), makers: map[*model.Table][]*model.Event{}, seen: map[int]bool{}, next: firstNumber,
	}
	for _, e := range t.Events {
		for _, step := range r.steps[e] {
			if step.Makes && !slices.Contains(d.makers[step.Table], e) {
				d.makers[step.Table] = append(d.makers[step.Table], e)
			}
		}
	}
	return d
}

// draw draws what shows each event: alone and behind itself, then beside the others. Where a table
// has room for few rows, all events are shown before two of them meet.
func (d *drawer) draw() {
	far := map[*model.Event]bool{}
	for _, e := range d.topic.Events {
		d.far = false
		d.alone(e)
		far[e] = d.far
	}
	for _, e := range d.topic.Events {
		if far[e] {
			continue
		}
		if !d.roles.usedUp(e) {
			d.versions(e)
			d.again(e)
		}
		if slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.Each != nil }) {
			d.onRow(func() { d.play(visit{event: e, bare: true}, 0) })
		}
		for _, other := range d.pairs[e] {
			d.together(other, e)
		}
		for n := 0; d.refused*4 > len(d.log) && n < len(d.log); n++ {
			filler := d.topic.Events[n%len(d.topic.Events)]
			d.onRow(func() { d.play(visit{event: filler}, 0) })
		}
	}
}

// alone draws rows that only this event is about: with optional values present, null and absent,
// and twice behind itself.
func (d *drawer) alone(e *model.Event) {
	shapes := 0
	if slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return varied(f, 0) }) {
		shapes = 3
	}
	for n := range max(2, shapes) {
		v := visit{event: e}
		if shapes > 0 {
			v.shape = n + 1
		}
		d.onRow(func() {
			if d.play(v, 0) && n < 2 {
				d.drawn(v)
			}
		})
	}
}

// versions draws records of one row with versions that rise, stay and fall.
func (d *drawer) versions(e *model.Event) {
	if !slices.ContainsFunc(e.Steps, func(s *model.Step) bool { return s.If.Newer != nil && s.If.Version.Field != nil }) {
		return
	}
	orders := []int{newer, newer, equal, older}
	if d.roles.versionInKey(e) {
		orders = []int{newer, newer, older}
	}
	d.onRow(func() {
		for _, version := range orders {
			d.play(visit{event: e, version: version}, 0)
		}
	})
}

// again draws a second copy of rows that otherwise differ from record to record.
func (d *drawer) again(e *model.Event) {
	if d.roles.keyedByRow(e) || !slices.ContainsFunc(d.roles.steps[e], func(s *model.Step) bool { return d.roles.repeatable(s) }) {
		return
	}
	for range 2 {
		d.onRow(func() {
			if d.play(visit{event: e}, 0) {
				d.drawn(visit{event: e, again: true})
			}
		})
	}
}

// together draws two events next to each other, in both orders and on two rows each. They take
// turns in being the first one of a row.
func (d *drawer) together(a, b *model.Event) {
	met := [2]int{}
	for n := 0; n < 4 && min(met[0], met[1]) < 2; n++ {
		first, second := a, b
		if n%2 == 1 {
			first, second = b, a
		}
		d.onRow(func() {
			d.spare = []*model.Event{a, b}
			d.prepare(second, 0, first)
			d.prepare(first, 0, nil)
			if !d.drawn(visit{event: first}) {
				return
			}
			for i, e := range []*model.Event{second, first} {
				if !d.drawn(visit{event: e}) {
					return
				}
				met[(n+i)%2]++
			}
		})
	}
}

// onRow draws records of a row that no other record touches. If none takes effect, it tries other
// rows: a key of few characters may be taken.
func (d *drawer) onRow(draw func()) {
	for range 4 {
		d.row, d.made, d.spare = d.next, map[*model.Table]bool{}, nil
		d.rows++
		for _, t := range d.tablesBefore() {
			d.made[t] = true
		}
		if draw(); d.next > d.row || d.far {
			d.next = max(d.next, d.row+2) // a second field of an event names the row after it
			return
		}
		d.next++
	}
}

// deep is how many records an event may need before it. One that needs more is not drawn.
const deep = 24

// play draws a record behind what its event needs. It reports whether the record takes effect.
func (d *drawer) play(v visit, depth int) bool {
	d.prepare(v.event, depth, nil)
	return d.try(v).Kind == oracle.Applied
}

// prepare makes the rows that an event changes or names, but for those that the first one makes.
func (d *drawer) prepare(e *model.Event, depth int, first *model.Event) {
	if depth > deep {
		d.far = true
		return
	}
	for _, t := range d.roles.needs(e) {
		if d.made[t] || first != nil && slices.Contains(d.makers[t], first) {
			continue
		}
		d.made[t] = true // what comes back here has this one under way
		makes := func(m *model.Event) bool {
			spared := slices.Contains(d.spare, m) && d.roles.usedUp(m)
			return m != e && !spared && d.play(visit{event: m}, depth+1)
		}
		if !slices.ContainsFunc(d.makers[t], makes) {
			delete(d.made, t)
		}
	}
}

// drawn draws a record, and keeps it if the database refuses it, too, unless that would halt the
// partition. It reports whether the record is in the log.
func (d *drawer) drawn(v visit) bool {
	out := d.try(v)
	refused := out.Kind == oracle.DeadLetter && out.Refused
	if refused {
		d.log = append(d.log, d.record(v))
		d.next++
		d.refused++
	}
	return refused || out.Kind == oracle.Applied
}

// try draws a record, and keeps it if it takes effect.
func (d *drawer) try(v visit) oracle.Outcome {
	last, versioned := d.writer.last[d.row]
	r := d.record(v)
	d.rowsBefore(d.row)
	if d.writer.seconds[d.row+1] {
		d.rowsBefore(d.row + 1)
	}
	sent := oracle.Record{Topic: r.In(d.topic), Offset: int64(len(d.log)), Time: base.Add(time.Duration(len(d.log)) * time.Second), Result: r.Result}
	sent.Key, sent.Value = Packed(d.topic, r.Key, r.Value)
	if !r.Time.IsZero() {
		sent.Time = r.Time
	}
	for _, h := range r.Headers {
		sent.Headers = append(sent.Headers, oracle.Header{Name: h.Name, Value: PackedHeader(d.topic, h.Name, h.Value)})
	}
	out := d.in.Try(sent)
	if out.Kind != oracle.Applied {
		if delete(d.writer.last, d.row); versioned {
			d.writer.last[d.row] = last
		}
		return out
	}
	d.log = append(d.log, r)
	d.next++
	for _, s := range d.roles.steps[v.event] {
		if s.Removes {
			delete(d.made, s.Table)
			for _, t := range s.Cascades {
				delete(d.made, t)
			}
		}
		d.made[s.Table] = d.made[s.Table] || s.Makes
	}
	return out
}

func (d *drawer) record(v visit) Record {
	v.row, v.number = d.row, d.next
	return d.writer.record(v)
}

// rowsBefore adds the rows of a number that are there before the log.
func (d *drawer) rowsBefore(row int) {
	if d.seen[row] {
		return
	}
	d.seen[row] = true
	for _, r := range d.writer.rowsBefore(d.service, d.tablesBefore(), row) {
		if d.in.Insert(r) == nil { // else it is there already
			d.before = append(d.before, r)
		}
	}
}

// tablesBefore are the tables that have a row of the number that is drawn before the log.
func (d *drawer) tablesBefore() []*model.Table {
	return slices.DeleteFunc(slices.Clone(d.roles.before), func(t *model.Table) bool { return d.roles.maybe[t] && d.rows%3 == 2 })
}

// needs are the tables whose rows an event changes or names, and does not make itself.
func (r *roles) needs(e *model.Event) (tables []*model.Table) {
	own := map[*model.Table]bool{}
	need := func(t *model.Table) {
		if !own[t] && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	for _, s := range r.steps[e] {
		for _, parent := range r.parents(s) {
			need(parent)
		}
		if !s.Makes {
			need(s.Table)
		}
		own[s.Table] = own[s.Table] || s.Makes
	}
	return tables
}

// parents are the tables whose rows the step names.
func (r *roles) parents(s *model.Step) (out []*model.Table) {
	for _, fk := range s.Table.ForeignKeys {
		named := slices.ContainsFunc(s.Set, func(a model.Assign) bool {
			return slices.Contains(fk.Columns, a.Column) && a.Value.Kind != model.NullValue && !r.absent[a.Value.Field]
		})
		if named {
			out = append(out, fk.References)
		}
	}
	return out
}

// repeatable reports whether the step's row differs from record to record only by fields
// that the log can repeat.
func (r *roles) repeatable(s *model.Step) bool {
	some := false
	for _, a := range s.Set {
		if f := a.Value.Field; f != nil && slices.Contains(s.Table.PrimaryKey, a.Column) {
			if f.Source.Kind == model.FromRecord {
				return false
			}
			some = some || r.byRecord[byRecord{s.Event, f}]
		}
	}
	return some && s.OnlyMakes()
}

// varied reports whether a field can look different: present, null, absent, or of other lengths.
func varied(f *model.Field, depth int) bool {
	t := f.Type
	return t.Optional || f.Default != nil || f.Patch || t.Elem != nil ||
		t.Kind == model.Object && depth < 8 && slices.ContainsFunc(t.Named.Fields, func(m *model.Field) bool { return varied(m, depth+1) })
}
