package survey

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// candidates finds the headers and members that are in every record of an event, and (nearly)
// unique: no more than one record in 50 has the text of an earlier one with other content. With a
// name that only keys have it is one in 5, because resends may say when they were sent.
func (s *Sample) candidates(e *Event, of []taken, where *EventType) {
	e.Candidates = []*Candidate{}
	try := func(in func(taken) []fact, header bool) {
		for _, f := range in(of[0]) {
			name := s.all[f.name]
			if where != nil && (header && where.Header == name || !header && where.Member == name) {
				continue
			}
			if c := s.candidate(f.name, of, in); c != nil {
				if c.Member = name; header {
					c.Header, c.Member = name, ""
				}
				e.Candidates = append(e.Candidates, c)
			}
		}
	}
	try(func(t taken) []fact { return t.headers }, true)
	if !e.Open {
		try(func(t taken) []fact { return t.members }, false)
	}
}

// candidate examines one name; nil if it identifies nothing.
func (s *Sample) candidate(name int, of []taken, in func(taken) []fact) *Candidate {
	type first struct {
		content      uint64
		partition    int32
		oldest, last time.Time
	}
	var is kinds
	c, seen := &Candidate{Records: len(of)}, map[uint64]*first{}
	for _, t := range of {
		f, found := find(in(t), name)
		if !found || !f.usable || f.is&(texts|integer) == 0 {
			return nil
		}
		is |= f.is
		before := seen[f.hash]
		if before == nil {
			seen[f.hash] = &first{t.content, t.partition, t.time, t.time}
			continue
		}
		if before.content == t.content {
			c.Same++
		} else {
			c.Other++
		}
		if before.partition != t.partition {
			c.Elsewhere++
		}
		if t.time.Before(before.oldest) {
			before.oldest = t.time
		}
		if t.time.After(before.last) {
			before.last = t.time
		}
	}
	for _, f := range seen {
		c.Apart = max(c.Apart, f.last.Sub(f.oldest))
	}
	c.Distinct = len(seen)
	switch c.Type = word(is, 0); {
	case c.Other*50 > len(of) && (c.Other*5 > len(of) || !isKey.MatchString(words(s.all[name]))), len(of) > 1 && c.Distinct < 2:
		return nil
	case c.Type != "uuid" && c.Type != "string" && c.Type != "int64": // a time or an amount identifies nothing
		return nil
	}
	return c
}

var (
	camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	notInWord = regexp.MustCompile(`[^a-z0-9]+`)
	isKey     = regexp.MustCompile(`(^|_)(idempotency|dedup|deduplication|event|message|msg|ce)_(id|key|uuid|guid)$`)
	// ofTheEvent are the ends of names that producers give to what identifies an event.
	ofTheEvent = regexp.MustCompile(`(^|_)(idempotency|dedup|deduplication|event|message|msg|ce|request|transaction|tx)_(id|key|uuid|guid)$`)
	anyID      = regexp.MustCompile(`(^|_)(id|key|uuid|guid|ref|reference|number|no|sequence|seq|token|nonce)$`)
	ofTheSend  = regexp.MustCompile(`(^|_)(trace|span|traceparent|tracestate|b3|baggage|correlation|session)(_|$)`)
)

// words is a name in small letters, with _ between its words.
func words(name string) string {
	name = strings.ToLower(camelHump.ReplaceAllString(name, "${1}_$2"))
	return strings.Trim(notInWord.ReplaceAllString(name, "_"), "_")
}

// rank says how likely a candidate identifies an event; less is better. A negative one is none: a
// name that says nothing, such as that of a text that happens to differ, or an id of the sending.
func (c *Candidate) rank() int {
	name, rank := words(c.Header+c.Member), 0
	switch {
	case ofTheSend.MatchString(name):
		return -1
	case ofTheEvent.MatchString(name) || name == "id":
	case anyID.MatchString(name):
		rank = 2
	case c.Type == "uuid":
		rank = 4
	default:
		return -1
	}
	if c.Header == "" {
		rank++
	}
	return rank
}

// better compares two candidates: first by their names, then by what the records show.
func better(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Other, b.Other), cmp.Compare(b.Same, a.Same), strings.Compare(a.Header+a.Member, b.Header+b.Member))
}

// choose gives all events the same key if there is one, and otherwise each its own.
func choose(events []*Event) {
	type place struct{ header, member string }
	in, of := map[place]int{}, map[place]*Candidate{}
	for _, e := range events {
		for _, c := range e.Candidates {
			if c.rank() < 0 {
				continue
			}
			p := place{c.Header, c.Member}
			in[p]++
			if of[p] == nil {
				of[p] = &Candidate{Header: c.Header, Member: c.Member, Type: c.Type}
			}
			of[p].Same, of[p].Other = of[p].Same+c.Same, of[p].Other+c.Other
			if c.Type != of[p].Type {
				of[p].Type = "string"
			}
			if e.Key == nil || better(c, e.Key) < 0 {
				e.Key = c
			}
		}
	}
	var all *Candidate
	for _, p := range slices.SortedFunc(maps.Keys(in), func(a, b place) int { return strings.Compare(a.header+a.member, b.header+b.member) }) {
		if in[p] == len(events) && (all == nil || better(of[p], all) < 0) {
			all = of[p]
		}
	}
	if all == nil {
		return
	}
	for _, e := range events {
		i := slices.IndexFunc(e.Candidates, func(c *Candidate) bool { return c.Header == all.Header && c.Member == all.Member })
		e.Key = e.Candidates[i]
	}
}
