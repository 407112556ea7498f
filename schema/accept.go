package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Accepted is a kind of warning that the team means, and why: an entry of accept.
type Accepted struct {
	Code   Text // Pos is the key
	Reason Text
}

// acceptable are the warnings that a spec alone makes true, and that stay as long as it does.
var acceptable = []string{"W901", "W902", "W903", "W904", "W905", "W906", "W908", "W911", "W913"}

// passing are the other warnings, with what to do in place of accepting them.
var passing = map[string]string{
	"W909": ofAChange, "W910": ofAChange, "W920": ofAChange, "W921": ofAChange, "W922": ofAChange,
}

const ofAChange = "it is told of a change, once: idemgen generate without --strict writes the state, and it ends"

// maxReason is how many characters a reason has at most.
const maxReason = 200

// accept are the warnings that a thing means.
func accept[T any](doc func(*T) *Doc) key[T] {
	return key[T]{name: "accept", value: value[T]{shape{entries: &scalarShape}, func(w *walker, e entry, into *T) bool {
		list, ok := readAccepted(w, e)
		doc(into).Accept = list
		return ok
	}}}
}

func readAccepted(w *walker, e entry) (list []Accepted, ok bool) {
	if e.node.Kind != MapNode {
		return nil, w.notThatKind(e, "a map", "say why, too: accept: {W905: parents come a day before}")
	}
	if !w.some(e) {
		return nil, false
	}
	ok = true
	for p := range w.pairs(e) {
		if !slices.Contains(acceptable, p.Key) {
			w.ds.Add(p.KeyPos, "E104", quote(p.Key)+" cannot be accepted", whyNot(p.Key))
			ok = false
			continue
		}
		reason, fine := w.sentence(entry{p.Key, p.KeyPos, p.Value})
		if fine && utf8.RuneCountInString(reason.Value) > maxReason {
			w.ds.Add(reason.Pos, "E108", fmt.Sprintf("%s must not be longer than %d characters", p.Key, maxReason), "say in short why the warning is meant; longer texts go under description")
			fine = false
		}
		if ok = ok && fine; fine {
			list = append(list, Accepted{Code: Text{Value: p.Key, Key: p.KeyPos, Pos: p.KeyPos}, Reason: *reason})
		}
	}
	return list, ok
}

// whyNot says what to do with a code that accept does not take.
func whyNot(code string) string {
	if hint := passing[code]; hint != "" {
		return hint
	}
	if len(code) == 4 && code[0] == 'E' && strings.Trim(code[1:], "0123456789") == "" {
		return "an error is mended; only warnings can be meant: " + strings.Join(acceptable, ", ")
	}
	return "warnings that can be: " + strings.Join(acceptable, ", ")
}

// Warn adds a warning, unless it is accepted.
func (ds *Diagnostics) Warn(accept [][]Accepted, pos Pos, code, message, hint string) {
	if !ds.Accepts(accept, code) {
		ds.Add(pos, code, message, hint)
	}
}

// Accepts reports whether one of these lists has the code of a warning that is due: the first that
// has it is of use then.
func (ds *Diagnostics) Accepts(accept [][]Accepted, code string) bool {
	for _, list := range accept {
		for _, a := range list {
			if a.Code.Value == code {
				ds.accepted = append(ds.accepted, a.Code.Pos)
				return true
			}
		}
	}
	return false
}

// UnusedAccepts refuses what a spec accepts and nobody told (E212). All checks must be done.
func (ds *Diagnostics) UnusedAccepts(s *Spec) {
	look := func(what string, list []Accepted) {
		for _, a := range list {
			if !slices.Contains(ds.accepted, a.Code.Pos) {
				ds.Add(a.Code.Pos, "E212", fmt.Sprintf("%s accepts %s, and has no such warning", what, a.Code.Value), "remove it: a warning that comes later must be read; where an event and its topic accept a code, the event's entry counts")
			}
		}
	}
	for _, t := range s.Topics {
		look("topic "+quote(t.Name.Value), t.Doc.Accept)
		for _, e := range t.Events {
			look("event "+quote(e.Name.Value), e.Doc.Accept)
		}
	}
}
