package resolve

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/draft"
	"github.com/idemgen/idemgen/internal/gen/resolve/wording"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// use looks up a name for a place of the spec, marks it used, and returns its field; nil
// if the name is unknown (reported: E207 with the hint, E306) or was refused at its
// declaration.
func use(report *syntax.Diagnostics, e *draft.Event, at syntax.Text, hint func(*draft.Event, string) string) *model.Field {
	n := e.Scope.Find(at.Value)
	switch {
	case n == nil && e.Scope.Open:
		return nil
	case n == nil:
		report.Add(at.Pos, "E207", fmt.Sprintf("event %s has no field %s", wording.Quote(e.Spec.Name.Value), wording.Quote(at.Value)), hint(e, at.Value))
		return nil
	case n.NoPayload:
		report.Add(at.Pos, "E306", fmt.Sprintf("a tombstone has no payload, so field %s cannot be read from it", wording.Quote(at.Value)), "take it from a header or from record_key")
		return nil
	}
	n.Used = true
	return n.Field
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
func fieldOrConstant(e *draft.Event, text string) string {
	if near := syntax.DidYouMean(text, e.Scope.Texts()); near != "" {
		return near
	}
	switch {
	case isNow(text):
		return "for the transaction's time, write {now: true}"
	case text == "position":
		return "for the element's position in the list, write {each: position}"
	case memberPath.MatchString(text):
		last := text[strings.LastIndexByte(text, '.')+1:]
		return fmt.Sprintf("a step names fields: declare %s: {type: ..., path: %s} and name %s", last, text, last)
	case call.MatchString(text):
		return "a step cannot call functions: give the column a default, now() or gen_random_uuid(), and list it under leave"
	case arithmetic.MatchString(text):
		return "set writes values unchanged; to add or subtract, write a step add: <table> with plus: or minus:"
	}
	return "for a constant, write {value: " + text + "}"
}

// fieldOnly suggests the field that is near, or lists the fields.
func fieldOnly(e *draft.Event, text string) string {
	return syntax.Choices(text, "fields", e.Scope.Texts())
}
