package seedlog

import (
	"slices"
	"strconv"

	"github.com/idemgen/idemgen/generator/model"
)

// Others says for columns that their rows have another value before the log than they would have,
// and how many values further on it is.
type Others map[*model.Column]int

// Way returns a short log that ends with a record of the event, and the rows that must be there
// before. What the spec's steps need is such a row, if that can be; else records before it make
// it. For an event with a handler, which may want any row of its topic, there is one of each table
// that the topic's events can make. Rows and records are numbered from 1, and have all that may be
// missing, at the first of its paths.
func Way(s *model.Service, e *model.Event, others Others) ([]model.Row, []Record) {
	alone := *e.Topic
	alone.Events, alone.Flush = []*model.Event{e}, e.Steps
	topics := []*model.Topic{&alone, e.Topic}
	if e.Handle {
		topics = topics[1:]
	}
	for _, t := range topics {
		if rows, log, ok := wayOf(s, t, e, others); ok {
			return rows, log
		}
	}
	rows, log, _ := wayOf(s, e.Topic, e, others)
	return rows, log
}

// wayOf is Way by the events of a topic. It reports whether the event takes effect.
func wayOf(s *model.Service, t *model.Topic, e *model.Event, others Others) ([]model.Row, []Record, bool) {
	r := rolesOf(s, t)
	p := newPlanner(r, t)
	w := &writer{seconds: map[int]bool{}, roles: r, topic: e.Topic, last: map[int]int{}, whole: true, others: others}
	now := p.first()
	if e.Handle {
		wanted := slices.Clone(p.does[e].needs)
		for t := range p.tables {
			if !slices.Contains(p.does[e].makes, t) && !slices.Contains(wanted, t) {
				wanted = append(wanted, t)
			}
		}
		for _, t := range wanted {
			p.ensure(now, t, e)
		}
	}
	ok := p.prepared(now, visit{event: e})
	if !ok && (len(p.visits) == 0 || p.visits[len(p.visits)-1].event != e) {
		p.visits = append(p.visits, visit{event: e})
	}
	for i := range p.visits {
		p.visits[i].row, p.visits[i].number, p.visits[i].shape = 1, i+1, shapeOfAll
	}
	log := w.records(p.visits)
	rows := w.rowsBefore(s)
	for _, row := range rows {
		fill(row, t)
	}
	return rows, log, ok
}

// shapeOfAll is a shape in which no list and no map is empty.
const shapeOfAll = 2

// enough is more than the records of a way subtract.
const enough = 100

// fill gives a row enough in the columns that steps subtract from.
func fill(row model.Row, t *model.Topic) {
	for i, a := range row.Set {
		if a.Value.Kind != model.ConstValue || a.Column.Type.Kind == model.ColNumeric && a.Column.Type.Precision > 0 && a.Column.Type.Precision-a.Column.Type.Scale < 4 {
			continue
		}
		taken := false
		for _, e := range t.Events {
			for _, s := range e.Steps {
				taken = taken || slices.ContainsFunc(s.Set, func(o model.Assign) bool { return o.Column == a.Column && o.How == model.Subtracts })
			}
		}
		if taken {
			row.Set[i].Value = model.Value{Kind: model.ConstValue, Const: &model.Constant{Text: strconv.Itoa(enough)}}
		}
	}
}
