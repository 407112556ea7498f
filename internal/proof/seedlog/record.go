package seedlog

import (
	"slices"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// visit is one record to be: an event on a row.
type visit struct {
	event   *model.Event
	row     int  // of the row: what names the row is made of it
	number  int  // of the record, among all: its other values are made of it
	version int  // relation to the version that the row was given last
	again   bool // with the own row of the record before
	bare    bool // with empty lists
	shape   int  // from 1: which optional values are there; 0 = the number decides
}

const (
	newer = iota
	equal
	older
)

// writer turns visits into records.
type writer struct {
	roles *roles
	topic *model.Topic
	last  map[int]int // row -> number of the version it was given last
	// seconds are rows that only fields which name a second row name.
	seconds map[int]bool
	own     int // of rows that differ from record to record: the number of the record that made one

	now     visit
	variant int // which optional values are there, and which of the event's texts
	version int // the version's number
	element int // number of the list element being written, 0 outside
}

func (w *writer) record(v visit) Record {
	w.now, w.variant = v, v.number
	if v.shape > 0 {
		w.variant = v.shape - 1
	}
	if !v.again {
		w.own = v.number
	}
	w.setVersion(v)
	r := Record{Event: v.event.GoName, Keyed: v.event.Key != nil && !v.event.Key.Offset, Key: w.recordKey(v)}
	if !v.event.Tombstone {
		r.Value = w.payload(v)
	}
	r.Headers = w.headers(v)
	if v.event.Returns() {
		result := &tree{}
		object(w, result, v.event.Effect.Result, 0)
		r.Result = []byte(result.String())
	}
	if slices.ContainsFunc(v.event.Fields, func(f *model.Field) bool { return f.IsRecordTime() && w.roles.isVersion(v.event, f) }) {
		r.Time = base.Add(time.Duration(w.version) * time.Minute)
	}
	return r
}

// setVersion numbers versions in tens, so that an older one has room.
func (w *writer) setVersion(v visit) {
	switch v.version {
	case equal:
		w.version = w.last[v.row]
	case older:
		w.version = w.last[v.row] - 5
		return
	default:
		w.version = 10 * v.number
	}
	w.last[v.row] = w.version
}

// typeTexts are texts that tell a record of the event, in the order of event_type.
func (w *writer) typeTexts(e *model.Event) []string {
	if len(e.Types) == 0 {
		return nil
	}
	return w.topic.TypeTexts(e.Types[w.variant%len(e.Types)])
}

func (w *writer) headers(v visit) []Header {
	var hs []Header
	add := func(name, value string) {
		if !slices.ContainsFunc(hs, func(h Header) bool { return h.Name == name }) {
			hs = append(hs, Header{name, []byte(value)})
		}
	}
	for i, text := range w.typeTexts(v.event) {
		if by := w.topic.EventType[i]; by.Header != "" {
			add(by.Header, text)
		}
	}
	if v.event.Key != nil {
		for _, p := range v.event.Key.Parts {
			if keyField(v.event, p) == nil {
				add(p.Header, "k"+strconv.Itoa(v.number))
			}
		}
	}
	for i, f := range v.event.Fields {
		if f.Source.Kind == model.FromHeader && w.presence(f, i) == isPresent {
			add(f.Source.Header, w.text(f.Type, f, f))
		}
	}
	return hs
}

func (w *writer) recordKey(v visit) []byte {
	rk := w.topic.RecordKey
	if rk == nil {
		for _, f := range v.event.Fields {
			if f.Source.Kind == model.FromRecord && f.Source.Record == "key" {
				return []byte(w.text(asText(f.Type), f, f))
			}
		}
		return nil
	}
	root := &tree{}
	for _, part := range rk.Parts {
		text := w.partText(v.event, part)
		if !rk.JSON {
			return []byte(text)
		}
		if quoted(part.Type) {
			text = Quote(text)
		}
		root.put(part.Path, text)
	}
	return []byte(root.String())
}

// asText makes bytes that are taken as they are readable.
func asText(t model.FieldType) model.FieldType {
	if t.Kind == model.Bytes {
		t.Kind = model.String
	}
	return t
}

// partText is the value of a record-key part: that of the event's field of the same name.
func (w *writer) partText(e *model.Event, part *model.KeyPart) string {
	for _, f := range e.Fields {
		if partOf(f) == part {
			return w.text(part.Type, f, f)
		}
	}
	c := w.roles.class(part)
	label := c.label
	if label == "" {
		label = part.Name
	}
	return scalar(part.Type, c, label, w.rowNumber(c))
}

// text is the value of a scalar field, member or element as text.
func (w *writer) text(t model.FieldType, f *model.Field, node any) string {
	e := w.now.event
	c := w.roles.class(node)
	label, n := f.Name, w.now.number
	switch {
	case w.roles.byRecord[byRecord{e, f}]:
		if n = w.own; w.inKey(f) && !w.roles.repeats(e, f) {
			n = w.now.number
		}
	case c.row:
		n = w.rowNumber(c)
		if w.roles.second[f] {
			n++
			w.seconds[n] = true
		}
		if c.label != "" {
			label = c.label
		}
	case w.roles.isVersion(e, f):
		n = w.version
	case locks(e, f) && !w.inKey(f): // so that events meet that lock the same thing
		n = 1 + n%2
	case (c.added || c.taken) && !w.inKey(f):
		if n = 1 + n%9; !c.taken && (c.whole < 0 || c.whole > 2) {
			n += 100 // no sum falls below zero, which a CHECK may refuse
		}
	case w.element > 1:
		n += w.element - 1
	}
	return scalar(t, c, label, n)
}

// rowNumber numbers rows; within lists it numbers elements, and every event names
// the first or the second.
func (w *writer) rowNumber(c *class) int {
	switch {
	case c.element && w.element > 0:
		return w.element
	case c.element:
		return 2 - w.now.row%2
	}
	return w.now.row
}

type presence int

const (
	isPresent presence = iota
	isNull
	isAbsent
)

// presence lets optional fields and defaults take turns: present, null, absent. What names
// rows, orders versions or is part of the key is always there.
func (w *writer) presence(f *model.Field, i int) presence {
	switch {
	case w.roles.absent[f]:
		return isAbsent
	case w.roles.class(f).row || w.roles.isVersion(w.now.event, f) || w.inKey(f):
		return isPresent
	case f.Patch && !f.Type.Optional:
		return 2 * presence((w.variant+i)%2)
	case f.Type.Optional || f.Patch:
		return presence((w.variant + i) % 3)
	case f.Default != nil && w.variant%2 == 1:
		return isAbsent
	}
	return isPresent
}

// locks reports whether a field tells what the event locks.
func locks(e *model.Event, f *model.Field) bool {
	return e.Effect != nil && e.Effect.Lock != nil && slices.Contains(e.Effect.Lock.By, f)
}

func (w *writer) inKey(f *model.Field) bool {
	e := w.now.event
	return e.Key != nil && slices.ContainsFunc(e.Key.Parts, func(p model.KeySource) bool { return keyField(e, p) == f })
}
