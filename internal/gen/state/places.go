package state

import (
	"fmt"
	"slices"
	"strings"
)

// inPayload reports whether a field is a member of the payload.
func (f wireField) inPayload() bool { return strings.HasPrefix(f.place, "$") }

// fixed reports whether every record has a field's place: no producer chose its name.
func (f wireField) fixed() bool { return strings.HasPrefix(f.place, "record ") }

// moved reports a field that is not read any more where older records have it: they are refused,
// or lose it without a word, unless another field reads it there.
func (c *comparison) moved(f, was wireField, now []wireField) {
	u := Unread{About: c.at, Remedy: firstBoth, Change: fmt.Sprintf("field %q is read at %s, and was at %s", f.name, f.place, was.place)}
	u.Field, u.Moved = f.name, true
	if f.need != "" {
		if slices.ContainsFunc(now, func(o wireField) bool { return o.place == was.place }) {
			return
		}
		u.Loses = true
	}
	c.add(u)
}
