package state

import (
	"fmt"
	"slices"
	"strings"
)

// ofPaths stands between the paths of a field that has several, in the order in which they count.
const ofPaths = " or "

// places are where a field is read: its paths, or the one place that is none.
func (f wireField) places() []string {
	if strings.HasPrefix(f.place, "$") {
		return strings.Split(strings.ReplaceAll(f.place, ofPaths+"$", "\n$"), "\n")
	}
	return []string{f.place}
}

// inPayload reports whether a field is a member of the payload.
func (f wireField) inPayload() bool { return strings.HasPrefix(f.place, "$") }

// named reports whether a producer chose the name of a field's place.
func (f wireField) named() bool {
	return !strings.HasPrefix(f.place, "record ") && !strings.HasPrefix(f.place, "segment ")
}

// covers reports whether a field is read wherever it was.
func (f wireField) covers(was wireField) bool {
	places := f.places()
	return !slices.ContainsFunc(was.places(), func(p string) bool { return !slices.Contains(places, p) })
}

// moved reports a field that is not read any more where older records have it: they are refused,
// or lose it without a word, unless another field reads it there.
func (c *comparison) moved(f, was wireField, now []Entry) {
	u := Unread{About: c.at, Remedy: firstBoth, Change: fmt.Sprintf("field %q is read at %s, and was at %s", f.name, f.place, was.place)}
	u.Field, u.Moved = f.name, true
	if strings.HasPrefix(f.place, "$") && strings.HasPrefix(was.place, "$") {
		u.Remedy = "name the former path, too, until the older records are read, as path: [new, former]; or deploy this when they are"
	}
	if f.need != "" {
		var all []string
		for _, entry := range now {
			all = append(all, takeApart(entry).places()...)
		}
		if !slices.ContainsFunc(was.places(), func(p string) bool { return !slices.Contains(all, p) }) {
			return
		}
		u.Loses = true
	}
	c.add(u)
}
