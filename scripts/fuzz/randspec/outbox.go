package randspec

import "strings"

// outbox are the events that a service sends: one of each event's own fields, one of names, and a
// tombstone.
func outbox(all map[string]name) *part {
	told := &part{lines: []string{"Told:"}, parts: []*part{
		need("topic: told"), need("record_key: {event_id: string}"), leaf("headers: {Former: former_id, number: place}"), leaf("naming: camelCase"),
		{lines: []string{"fields:"}, parts: []*part{need("event_id: string"), leaf("former_id: optional string"), leaf("lines: list(Line)"), leaf("place: optional int64")}},
	}}
	fields := &part{lines: []string{"fields:"}, needed: true}
	for _, called := range order {
		if n := all[called]; n.field != "" && n.field != "Label" {
			fields.add(leaf(called + ": optional " + n.field))
		}
	}
	moved := &part{lines: []string{"Moved:"}, parts: []*part{need("topic: moved"), need("record_key: {event_id: string}"), fields}}
	ended := &part{lines: []string{"Ended:"}, parts: []*part{need("topic: told"), need("record_key: {event_id: string}"), need("tombstone: true")}}
	return &part{lines: []string{"outbox:"}, parts: []*part{{lines: []string{"events:"}, parts: []*part{told, moved, ended}, needed: true}}}
}

// emit is a step that sends one of them.
func (w *writer) emit() *part {
	of := pick(w.r, []string{"Told", "Told", "Moved", "Moved", "Ended"})
	s := &part{lines: []string{"- emit: " + of}}
	each := !w.each && chance(w.r, 30)
	if each {
		s.add(need("each: lines"))
	}
	each = each || w.each
	set := []string{}
	if each {
		set = append(set, "event_id: event_id")
	}
	switch of {
	case "Told":
		if each {
			set = append(set, "former_id: former_id", "lines: lines", "place: {each: position}")
		} else {
			s.add(need("leave: [place]"))
		}
	case "Moved":
		var left []string
		for _, called := range order {
			if n := w.names[called]; n.field == "" || n.field == "Label" {
				continue
			}
			if each || chance(w.r, 50) {
				w.use(each, called)
			} else {
				left = append(left, called)
			}
		}
		if len(left) > 0 {
			s.add(need("leave: [" + strings.Join(left, ", ") + "]"))
		}
	}
	if len(set) > 0 {
		s.add(need("set: {" + strings.Join(set, ", ") + "}"))
	}
	return s
}

// use notes a field of the event, or of the elements of its list.
func (w *writer) use(each bool, called string) {
	if each {
		w.lines[called] = true
	} else {
		w.used[called] = true
	}
}
