package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
)

// keySpace is what the keys of events begin with. Equal keys of one space are one key,
// whichever of its events they come with.
type keySpace struct {
	hash   [16]byte
	events []*model.Event
	name   string // constant, if there are several events
	// contents is the variable that holds the definitions of all contents that events with
	// these keys may have; "" if there is only one, or if they differ from event to event.
	contents string
}

// findSpaces groups the events by the space of their keys.
func (p *pkg) findSpaces() {
	p.spaces = map[[16]byte]*keySpace{}
	for _, t := range p.service.Topics {
		for _, e := range t.Events {
			if e.Key.Offset {
				continue
			}
			s := p.spaces[e.Key.Space]
			if s == nil {
				s = &keySpace{hash: e.Key.Space}
				p.spaces[e.Key.Space] = s
			}
			s.events = append(s.events, e)
		}
	}
	for _, s := range p.spaces {
		first := s.events[0]
		s.name = unexported(first.GoName) + "Space"
		if len(s.events) > 1 && p.onlySpace(s) {
			s.name = unexported(first.Topic.GoName) + "Keys"
		}
		if len(first.Key.ContentSame) > 0 && !slices.ContainsFunc(s.events, func(e *model.Event) bool { return !slices.Equal(contents(e), contents(first)) }) {
			s.contents = strings.TrimSuffix(s.name, "Keys") + "Contents"
		}
	}
}

// onlySpace reports whether all keys of a topic are of the space, and it has no other keys.
func (p *pkg) onlySpace(s *keySpace) bool {
	topic := s.events[0].Topic
	other := func(e *model.Event) bool { return e.Topic != topic }
	return !slices.ContainsFunc(s.events, other) && !slices.ContainsFunc(topic.Events, func(e *model.Event) bool {
		return !e.Key.Offset && e.Key.Space != s.hash
	})
}

// contents are the definitions of all contents with which that of the event is compared, and
// its own, in order.
func contents(e *model.Event) []uint32 {
	all := append([]uint32{e.Key.Content}, e.Key.ContentSame...)
	slices.Sort(all)
	return all
}

// sharedSpaces writes the spaces that several events share, in the topic of the first.
func (p *pkg) sharedSpaces(f *file, t *model.Topic) {
	for _, e := range t.Events {
		if s := p.spaces[e.Key.Space]; s != nil && !e.Key.Offset && s.events[0] == e && len(s.events) > 1 {
			spaceDecl(f, s)
		}
	}
}

func spaceDecl(f *file, s *keySpace) {
	var names []string
	for _, e := range s.events {
		names = append(names, e.GoName)
	}
	doc := fmt.Sprintf("%s begins the keys of %s: equal parts are one key, whichever of them it comes with.", s.name, listing(names))
	f.decl(doc, text("const %s = %s", s.name, hashText(s.hash)))
	if s.contents == "" {
		return
	}
	var defs []code
	for i, e := range s.events {
		first := slices.IndexFunc(s.events, func(o *model.Event) bool { return o.Key.Content == e.Key.Content })
		if first == i {
			defs = append(defs, text("%#08x,", e.Key.Content).Comment(e.GoName))
		}
	}
	f.decl(s.contents+" are what the fingerprints of these events cover, as hashes. It is read only.",
		text("var %s =", s.contents).Add(literalLines(slice(text("uint32")), defs)))
}

// space is what the keys of an event begin with.
func (p *pkg) space(e *model.Event) code {
	if s := p.spaces[e.Key.Space]; len(s.events) > 1 {
		return text(s.name)
	}
	return text(hashText(e.Key.Space))
}

// hashText is a string literal.
func hashText(space [16]byte) string {
	var out strings.Builder
	for _, b := range space {
		fmt.Fprintf(&out, `\x%02x`, b)
	}
	return `"` + out.String() + `"`
}

// content is the definition of an event's content, and those with which it is compared.
func (p *pkg) content(e *model.Event) code {
	elems := []code{pair("Def", text("%#08x", e.Key.Content))}
	switch s := p.spaces[e.Key.Space]; {
	case s.contents != "":
		elems = append(elems, pair("Same", text(s.contents)))
	case len(e.Key.ContentSame) > 0:
		var same []code
		for _, def := range e.Key.ContentSame {
			same = append(same, text("%#08x", def))
		}
		elems = append(elems, pair("Same", slice(text("uint32")).(*expr).Values(same...)))
	}
	return wire("Content").Values(elems...)
}
