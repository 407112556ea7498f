package schema

import (
	"regexp"
	"slices"
	"strings"
)

// Pattern says which topics an entry is about by their names, in which each <name> stands for one
// part between dots.
type Pattern struct {
	Text
	Parts []NamePart
}

// NamePart is a part of a topic's name: a text, or a segment, which stands for any.
type NamePart struct {
	Literal string
	Segment string
}

// Segments are the names of a pattern's segments, in its order; none of nil.
func (p *Pattern) Segments() (names []string) {
	if p == nil {
		return nil
	}
	for _, part := range p.Parts {
		if part.Segment != "" {
			names = append(names, part.Segment)
		}
	}
	return names
}

var literalPart = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

const patternExample = "for example pattern: orders.<region>.v1"

// ParsePattern takes a pattern apart. Otherwise it says what is wrong, in words that go on behind
// the pattern, and what to write.
func ParsePattern(text string) (parts []NamePart, wrong, hint string) {
	literal, segments := false, []string{}
	for _, part := range strings.Split(text, ".") {
		name, isSegment := strings.CutPrefix(part, "<")
		name, isClosed := strings.CutSuffix(name, ">")
		switch {
		case isSegment && isClosed && snakePattern.MatchString(name) && slices.Contains(segments, name):
			return nil, "has two segments " + quote(name), "give each segment a name of its own"
		case isSegment && isClosed && snakePattern.MatchString(name):
			segments = append(segments, name)
			parts = append(parts, NamePart{Segment: name})
		case literalPart.MatchString(part):
			literal = true
			parts = append(parts, NamePart{Literal: part})
		default:
			return nil, "is not valid", "literal parts and <name> segments between dots, " + patternExample
		}
	}
	switch {
	case len(segments) == 0:
		return nil, "has no segment", "of one topic write name: " + text + "; a segment stands between dots, " + patternExample
	case !literal:
		return nil, "has no literal part, so that it matches topics of others", "name what these topics have in common, " + patternExample
	case len(text) > 249+2*len(segments):
		return nil, "is longer than a topic's name may be", "Kafka has 249 characters at most"
	}
	return parts, "", ""
}

func readPattern(w *walker, e entry) (*Pattern, bool) {
	t, ok := w.full(e)
	if !ok {
		return nil, false
	}
	parts, wrong, hint := ParsePattern(t.Value)
	if wrong != "" {
		if !w.variable(t.Pos, t.Value) {
			w.ds.Add(t.Pos, "E416", "topic pattern "+quote(t.Value)+" "+wrong, hint)
		}
		return nil, false
	}
	return &Pattern{Text: *t, Parts: parts}, true
}
