package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Unread is a change after which records of the form before it become dead letters, or halt
// their partition, if they are still to be read.
type Unread struct {
	About
	Halts  bool
	Loses  bool // they are read, but without a value that they have, or with another one
	Moved  bool // a field is read elsewhere
	Change string
	Remedy string
}

// About is what of the spec a change is about.
type About struct {
	Topic, Event string // of the first event that has the field; "" for a limit
	What         What
	Type, Field  string // Type is "" if the field is the event's own; Field is "" for an enum
}

// What is the kind of thing that changed.
type What int

// What may have changed.
const (
	Field     What = iota // a field or a type of the spec
	EventType             // where the topic's event_type is
	Encoding              // what its values are packed in
	Payload               // how else its values are written
	Type                  // the types of an event, which may be gone
	KeySource             // the idempotency key of an event
	Limit
)

// Remedies of an [Unread].
const (
	firstOptional = "declare it optional or with a default until the older records are read, or deploy this when they are"
	firstBoth     = "declare the new place as a field of its own beside this one, both optional, until the older records are read, or deploy this when they are"
	firstBeside   = "keep the former field beside it, both optional, until the older records are read, or deploy this when they are"
	firstRead     = "deploy this when the older records are read"
	firstJSON     = "declare it json until the older records are read, or deploy this when they are"
	firstKeyed    = "make sure that the older records have that record key, or deploy this when they are read"
	firstText     = "keep the text until the records that hold it are read"
)

// Unreadable returns the changes since old that refuse records of the older form. What event
// they are of now is told as the spec tells it; types are told by their names.
func Unreadable(old, now *model.Service) []Unread {
	c := comparison{old: formOf(old), now: formOf(now), seen: map[pair]bool{}}
	if is, was := now.Limits.MaxPayload, old.Limits.MaxPayload; is < was {
		c.unhandled(About{What: Limit}, "", "keep the former one until the larger records are read", "max_payload is %d, and was %d", is, was)
	}
	before, after := dispatch(old), dispatch(now)
	oldKeys, newKeys := keys(old), keys(now)
	for _, t := range now.Topics {
		i := slices.IndexFunc(old.Topics, func(o *model.Topic) bool { return o.Name == t.Name })
		if i < 0 {
			continue // nobody read it
		}
		was, is := ofTopic(before, t.Name), ofTopic(after, t.Name)
		c.payload(&old.Topics[i].Payload, t)
		c.dispatch(was, is, t)
		c.tombstones(was, is, t)
		for _, e := range c.now.events {
			for _, o := range c.old.events {
				if e.topic == t.Name && o.topic == t.Name && reads(was, is, o.event, e.event) {
					c.at = About{Topic: e.topic, Event: e.event}
					c.fields(o.fields, e.fields)
					c.headers(keyOf(oldKeys, o), keyOf(newKeys, e), o.fields)
				}
			}
		}
	}
	return c.found
}

// keyOf is the key of an event; nil if none is stored.
func keyOf(all []Key, e wireEvent) *Key {
	if i := slices.IndexFunc(all, func(k Key) bool { return k.Topic == e.topic && k.Event == e.event }); i >= 0 {
		return &all[i]
	}
	return nil
}

// comparison compares two forms. Every two types are compared once, at the first event that
// names them.
type comparison struct {
	old, now form
	at       About // where the fields that are compared belong
	seen     map[pair]bool
	found    []Unread
}

// pair is two types that are compared.
type pair struct{ old, now string }

func (c *comparison) report(field, remedy, change string, args ...any) {
	u := Unread{About: c.at, Remedy: remedy, Change: fmt.Sprintf(change, args...)}
	u.Field = field
	c.add(u)
}

// add notes a change once: records of several events may be read by one.
func (c *comparison) add(u Unread) {
	if !slices.Contains(c.found, u) {
		c.found = append(c.found, u)
	}
}

func (c *comparison) fields(old, now []wireField) {
	for _, f := range now {
		was, ok := formerField(old, f)
		required := f.need == ""
		switch {
		case f.fixed():
			if ok && was.place == f.place {
				c.types(f, was.typ, f.typ)
			}
		case !ok && strings.HasPrefix(f.place, "record_key "): // as it has to be
			c.report(f.name, firstKeyed, "part %q of the record key is read, and was not", f.name)
		case !ok && required:
			c.report(f.name, firstOptional, "field %q is new and required", f.name)
		case !ok:
			c.renamed(f, old, now)
		case f.place != was.place:
			c.moved(f, was, now)
		case required && was.need != "":
			c.report(f.name, firstOptional, "field %q is required, and was not", f.name)
		case f.need == "patch" && was.need == "optional":
			c.report(f.name, "keep it optional until the older records are read, or deploy this when they are", "field %q may not be null any more", f.name)
		case f.need == "default" && was.need == "optional":
			c.report(f.name, "keep it optional until the older records are read, or deploy this when they are", "field %q may not be null any more: its default is for records without it", f.name)
		default:
			c.types(f, was.typ, f.typ)
		}
	}
}

// renamed reports a field that records of before may hold under another name: a field is gone, of
// its type, or else of a type that no other new field has.
func (c *comparison) renamed(f wireField, old, now []wireField) {
	fresh := unmatched(now, old)
	for _, same := range []bool{true, false} {
		for _, was := range unmatched(old, now) {
			typed := func(is wireField) bool { return is.typ == was.typ && is.inPayload() == was.inPayload() }
			if typed(f) != same || f.inPayload() != was.inPayload() || !same && (was.fixed() || slices.ContainsFunc(fresh, typed)) {
				continue
			}
			change := "field %q is new, and %q of the same type is gone: if that is the same field, it has another name"
			if !same {
				change = "field %q is new, and %q of another type is gone: what records have of that is ignored, also if it is the same field under another name"
			}
			c.add(Unread{About: About{c.at.Topic, c.at.Event, c.at.What, c.at.Type, f.name}, Loses: true, Remedy: firstBeside,
				Change: fmt.Sprintf(change, f.name, was.name)})
			return
		}
	}
}

// unmatched are the fields of one version that the other has neither by name nor by place.
func unmatched(fields, others []wireField) (all []wireField) {
	for _, f := range fields {
		if _, ok := formerField(others, f); !ok {
			all = append(all, f)
		}
	}
	return all
}

// formerField finds what a field was: at the same place, or else of the same name.
func formerField(old []wireField, f wireField) (wireField, bool) {
	var found wireField
	best := 0
	for _, was := range old {
		score := 0
		if was.place == f.place {
			score += 2
		}
		if was.name == f.name {
			score++
		}
		if score > best {
			found, best = was, score
		}
	}
	return found, best > 0
}

// types reports a type that takes less than the one before.
func (c *comparison) types(f wireField, old, now string) {
	if !c.takes(f, old, now) {
		c.report(f.name, firstJSON, "field %q is %s, and was %s", f.name, now, old)
	}
}

// wider are the types that take whatever a type takes, in a payload.
var wider = map[string]string{
	"int32": "int64 decimal", "int64": "decimal", "float64": "decimal", "epoch_days": "int32 int64 decimal float64",
	"epoch_s": "int64 decimal float64", "epoch_ms": "int64 decimal float64", "epoch_us": "int64 decimal float64", "epoch_ns": "int64 decimal float64",
	"uuid": "string", "timestamp": "string", "local_timestamp": "string", "date": "string", "bytes": "string",
}

// takes reports whether every value of the type old is one of the type now. What changed
// inside a type of the spec is reported there.
func (c *comparison) takes(f wireField, old, now string) bool {
	switch {
	case now == "json":
		return old == "json" || strings.HasPrefix(f.place, "$")
	}
	if of, inner, ok := elementOf(now); ok {
		wasOf, wasInner, _ := elementOf(old)
		return wasOf == of && c.takes(f, wasInner, inner)
	}
	was, known := named(c.old.types, old)
	is, named := named(c.now.types, now)
	switch {
	case !known && !named && strings.HasPrefix(old, "bytes") && !strings.HasPrefix(f.place, "$"):
		return old == now // as they stand, not as text of a payload
	case !known && !named:
		return old == now || slices.Contains(strings.Fields(wider[old]), now)
	case !named:
		return now == "string" && was.texts != nil
	case !known, (was.texts == nil) != (is.texts == nil):
		return false
	}
	if pair := (pair{old, now}); !c.seen[pair] {
		c.seen[pair] = true
		c.inside(was, is)
	}
	return true
}

// elementOf takes the type of a list or a map apart.
func elementOf(typ string) (of, inner string, ok bool) {
	of, inner, ok = strings.Cut(typ, "(")
	return of, strings.TrimSuffix(inner, ")"), ok
}

// inside compares two types of the spec.
func (c *comparison) inside(was, is wireType) {
	outer := c.at
	c.at.Type, _, _ = strings.Cut(is.name, " ") // without its naming
	var gone []string
	for _, text := range was.texts {
		if !slices.Contains(is.texts, text) {
			gone = append(gone, strconv.Quote(text))
		}
	}
	if len(gone) > 0 {
		c.report("", firstText, "%s is no text of %q any more", strings.Join(gone, ", "), is.name)
	}
	c.fields(was.fields, is.fields)
	c.at = outer
}

func named(types []wireType, name string) (wireType, bool) {
	if i := slices.IndexFunc(types, func(t wireType) bool { return t.name == name }); i >= 0 {
		return types[i], true
	}
	return wireType{}, false
}
