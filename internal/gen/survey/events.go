package survey

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Where a record may name its event, the most telling place first.
var (
	typeHeaders = []string{"event-type", "event_type", "eventType", "ce_type", "ce-type", "type", "__TypeId__", "kind", "message-type", "messageType", "x-event-type"}
	typeMembers = []string{"event_type", "eventType", "event-type", "type", "kind", "event", "op", "messageType", "message_type", "action"}
)

const (
	fewestTypes = 2
	mostTypes   = 50
	mostFields  = 150 // of an event; more are names that are data
)

var isType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._:/$#-]{0,119}$`)

// typeText is a text if it looks like the name of a type and not like data.
func typeText(f fact, plain string) string {
	if f.is == text && isType.MatchString(plain) {
		return plain
	}
	return ""
}

func find(facts []fact, name int) (fact, bool) {
	i := slices.IndexFunc(facts, func(f fact) bool { return f.name == name })
	if i < 0 {
		return fact{}, false
	}
	return facts[i], true
}

// byType tells the records apart by the first place that is in all of them and has a few texts.
func (s *Sample) byType(usable []taken) (*EventType, map[string][]taken) {
	split := func(name string, in func(taken) []fact) map[string][]taken {
		n, known := s.names[name]
		if !known {
			return nil
		}
		types := map[string][]taken{}
		for _, t := range usable {
			f, _ := find(in(t), n)
			if f.text == "" || len(types) > mostTypes {
				return nil
			}
			types[f.text] = append(types[f.text], t)
		}
		// Where nearly every record has a text of its own, the texts are data.
		if len(types) < fewestTypes || len(types) > mostTypes || len(types) > 10 && len(types) > len(usable)/2 {
			return nil
		}
		return types
	}
	for _, name := range typeHeaders {
		if types := split(name, func(t taken) []fact { return t.headers }); types != nil {
			return &EventType{Header: name}, types
		}
	}
	for _, name := range typeMembers {
		if types := split(name, func(t taken) []fact { return t.members }); types != nil {
			return &EventType{Member: name}, types
		}
	}
	return nil, map[string][]taken{"": usable}
}

func (s *Sample) events(r *Report, usable []taken) {
	where, types := s.byType(usable)
	r.EventType = where
	for _, name := range slices.Sorted(maps.Keys(types)) {
		e := &Event{Type: name, Records: len(types[name]), Fields: []Field{}}
		s.fields(e, types[name], where)
		s.candidates(e, types[name], where)
		r.Events = append(r.Events, e)
	}
	choose(r.Events)
}

// fields finds the members of an event, the most frequent first, in the order of the values.
func (s *Sample) fields(e *Event, of []taken, where *EventType) {
	type place struct{ is, elements kinds }
	seen, order, counts := map[int]place{}, []int{}, map[int]int{}
	for _, t := range of {
		e.Open = e.Open || t.more && len(t.members) >= mostFields
		for _, f := range t.members {
			p, known := seen[f.name]
			if !known {
				order = append(order, f.name)
			}
			seen[f.name] = place{p.is | f.is, p.elements | f.elements}
			if f.is != 0 {
				counts[f.name]++
			}
		}
	}
	if e.Open = e.Open || len(order) > mostFields; e.Open {
		return // the names are data, and stay here
	}
	for _, n := range order {
		name, p := s.all[n], seen[n]
		switch is := word(p.is, p.elements); {
		case where != nil && where.Member == name:
		case is == "":
			e.Null = append(e.Null, name)
		default:
			e.Fields = append(e.Fields, Field{Member: name, Type: is, Optional: counts[n] < len(of), Records: counts[n]})
		}
	}
}

// keys describes the record keys, once the fields of the events are known.
func (s *Sample) keys(r *Report, usable []taken) {
	k := &r.RecordKey
	var is kinds
	partitions, spread := map[uint64]int32{}, map[uint64]bool{}
	for _, t := range s.taken {
		if !t.keyed {
			continue
		}
		if k.Records++; k.Form != "" && t.keyForm != k.Form {
			k.Form = OtherKey
		} else {
			k.Form = t.keyForm
		}
		is |= t.key.is
		if p, known := partitions[t.key.hash]; known && p != t.partition {
			spread[t.key.hash] = true
		}
		partitions[t.key.hash] = t.partition
	}
	k.Distinct, k.Spread = len(partitions), len(spread)
	switch k.Type = word(is, 0); {
	case k.Records == 0:
		return
	case is&other != 0 || k.Form == OtherKey:
		k.Type, k.Form = "bytes", OtherKey
	case is == digits:
		k.Type = "int64"
	case k.Type != "uuid":
		k.Type = "string"
	}
	equal, differs := map[int]int{}, map[int]bool{}
	for _, t := range usable {
		for _, f := range t.members {
			switch same := t.keyed && f.hash == t.key.hash && f.is&(texts|integer) != 0; {
			case same:
				equal[f.name]++
			case f.is != 0:
				differs[f.name] = true
			}
		}
	}
	best := 0
	for _, n := range slices.SortedFunc(maps.Keys(equal), func(a, b int) int { return strings.Compare(s.all[a], s.all[b]) }) {
		isField := slices.ContainsFunc(r.Events, func(e *Event) bool {
			return slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Member == s.all[n] })
		})
		if isField && !differs[n] && equal[n] > best {
			k.Equals, best = s.all[n], equal[n]
		}
	}
}
