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
	topic  *model.Topic   // whose file holds it
	uses   int            // by keys
	events []*model.Event // whose keys are of it
	name   string         // constant, if there are several uses
	// contents is the variable that holds the definitions of all contents that events with
	// these keys may have; "" if there is only one, or if they differ from event to event.
	contents string
}

// findSpaces groups the keys by what they begin with.
func (p *pkg) findSpaces() {
	p.spaces = map[[16]byte]*keySpace{}
	add := func(t *model.Topic, hash [16]byte, name string) *keySpace {
		s := p.spaces[hash]
		if s == nil {
			s = &keySpace{hash: hash, topic: t, name: name}
			p.spaces[hash] = s
		}
		s.uses++
		return s
	}
	for _, t := range p.service.Topics {
		for _, e := range t.Events {
			if !e.Key.Offset {
				s := add(t, e.Key.Space, unexported(e.GoName)+"Space")
				s.events = append(s.events, e)
			}
		}
	}
	for _, s := range p.spaces {
		if len(s.events) < 2 {
			continue
		}
		first := s.events[0]
		if p.onlySpace(s) {
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

// sharedSpaces writes the spaces that several keys share, in the topic of the first.
func (p *pkg) sharedSpaces(f *file, t *model.Topic) {
	written := map[[16]byte]bool{}
	write := func(hash [16]byte) {
		if s := p.spaces[hash]; s.uses > 1 && s.topic == t && !written[hash] {
			written[hash] = true
			spaceDecl(f, s)
		}
	}
	for _, e := range t.Events {
		if e.Key.Offset {
			continue
		}
		write(e.Key.Space)
	}
}

func spaceDecl(f *file, s *keySpace) {
	doc := fmt.Sprintf("%s begins the keys of several events: equal parts are one key, whichever event they come with.", s.name)
	f.decl(doc, text("const %s = %s", s.name, hashText(s.hash)))
	if s.contents == "" {
		return
	}
	var names []code
	f.parens("What the fingerprints of these events cover, as hashes.", "const", func(g *group) {
		for _, e := range s.events {
			g.Add(text("%s = %#08x", contentConst(e), e.Key.Content))
			names = append(names, text(contentConst(e)))
		}
	})
	f.decl(s.contents+" is read only.", text("var %s =", s.contents).Add(composite(slice(text("uint32")), names)))
}

// space is the expression of what keys begin with.
func (p *pkg) space(hash [16]byte) code {
	if s := p.spaces[hash]; s.uses > 1 {
		return text(s.name)
	}
	return text(hashText(hash))
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
	s := p.spaces[e.Key.Space]
	if s.contents != "" {
		return wire("Content").Values(pair("Def", text(contentConst(e))), pair("Same", text(s.contents)))
	}
	elems := []code{pair("Def", text("%#08x", e.Key.Content))}
	if len(e.Key.ContentSame) > 0 {
		var same []code
		for _, def := range e.Key.ContentSame {
			same = append(same, text("%#08x", def))
		}
		elems = append(elems, pair("Same", slice(text("uint32")).(*expr).Values(same...)))
	}
	return wire("Content").Values(elems...)
}
