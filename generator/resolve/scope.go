package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// origin says who declared a name of an event's scope.
type origin int

const (
	ownField origin = iota
	sharedField
	topicField
	keyPart
)

// name is a name in the scope of an event. field is nil if its declaration was
// refused: a use of it is then neither right nor wrong.
type name struct {
	text   string
	origin origin
	pos    schema.Pos
	field  *model.Field
	used   bool
	// noPayload: a payload field of the topic, in a tombstone.
	noPayload bool
}

// scope holds the names of one event: its fields, the topic's fields, the parts of the
// record key that no field names.
type scope struct {
	names []*name
	open  bool // some names are unknown: a field that is missing proves nothing
}

func (s *scope) find(text string) *name {
	i := slices.IndexFunc(s.names, func(n *name) bool { return n.text == text })
	if i < 0 {
		return nil
	}
	return s.names[i]
}

func (s *scope) texts() []string {
	var out []string
	for _, n := range s.names {
		if !n.noPayload {
			out = append(out, n.text)
		}
	}
	return out
}

// use looks up a name for a place of the spec, marks it used, and returns its field; nil
// if the name is unknown (reported: E207 with the hint, E306) or was refused at its
// declaration.
func use(report *schema.Diagnostics, e *event, at schema.Text, hint func(*event, string) string) *model.Field {
	n := e.scope.find(at.Value)
	switch {
	case n == nil && e.scope.open:
		return nil
	case n == nil:
		report.Add(at.Pos, "E207", fmt.Sprintf("event %s has no field %s", quote(e.spec.Name.Value), quote(at.Value)), hint(e, at.Value))
		return nil
	case n.noPayload:
		report.Add(at.Pos, "E306", fmt.Sprintf("a tombstone has no payload, so field %s cannot be read from it", quote(at.Value)), "take it from a header or from record_key")
		return nil
	}
	n.used = true
	return n.field
}

// isNow reports whether a text is what some database or language calls the time it is.
func isNow(text string) bool {
	switch strings.ToLower(strings.TrimSuffix(text, "()")) {
	case "now", "current_timestamp", "transaction_timestamp", "clock_timestamp", "localtimestamp", "getdate", "sysdate":
		return true
	}
	return false
}

var (
	memberPath = regexp.MustCompile(`^[a-z][A-Za-z0-9_]*(\.[a-z][a-z0-9_]{0,40})+$`)
	call       = regexp.MustCompile(`^[A-Za-z_]+\(.*\)$`)
)

// arithmetic is what people write who look for expressions: "total + amount".
var arithmetic = regexp.MustCompile(`^[a-z][a-z0-9_.]*( [-+*/] |\+)[a-z0-9_.]+$`)

// fieldOrConstant suggests the field that is near, or the notation of a constant.
func fieldOrConstant(e *event, text string) string {
	if near := schema.DidYouMean(text, e.scope.texts()); near != "" {
		return near
	}
	switch {
	case isNow(text):
		return "for the transaction's time write {now: true}"
	case text == "position":
		return "for the element's place in the list write {each: position}"
	case memberPath.MatchString(text):
		last := text[strings.LastIndexByte(text, '.')+1:]
		return fmt.Sprintf("a step names fields: declare %s: {type: ..., path: %s} and name %s", last, text, last)
	case call.MatchString(text):
		return "a step calls nothing: give the column a default, now() or gen_random_uuid(), and list it under leave"
	case arithmetic.MatchString(text):
		return "a step writes values as they come: for arithmetic write handle: true and do it in Go, in the same transaction"
	}
	return "for a constant write {value: " + text + "}"
}

// fieldOnly suggests the field that is near, or lists the fields.
func fieldOnly(e *event, text string) string { return choices(text, "fields", e.scope.texts()) }
