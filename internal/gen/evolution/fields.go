package evolution

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/definition"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// fields compares fields of two versions, and of the types that they name. Every two types are
// compared once, at the first field that names them.
type fields struct {
	at      about                   // of the fields that are compared
	binary  bool                    // the record key is binary
	through []about                 // the fields whose types lead there
	inside  [][2]*model.Type        // those types, from the outermost
	seen    map[[2]*model.Type]bool // whether something was found inside
	found   func(unread)
}

func newFields(found func(unread)) *fields {
	return &fields{seen: map[[2]*model.Type]bool{}, found: found}
}

// about is what of the spec a change is about. Of fields of the event itself typ is "", of an enum
// field is "".
type about struct{ topic, event, typ, field string }

// unread is a change after which a value of before cannot be read as it was.
type unread struct {
	about
	through  []about // nothing else is said of these fields: their types lead to it, or it is about them too
	loses    bool    // it is read, but without a value that it has, or with another one
	moved    bool    // a field is read elsewhere
	was      string  // the former name of the field, which is read where it was: nothing is lost
	what, do string  // what is "" if it was reported for another event
}

func (c *fields) report(field, do, what string, args ...any) {
	u := unread{about: c.at, do: do, what: fmt.Sprintf(what, args...)}
	u.field = field
	c.find(u)
}

func (c *fields) find(u unread) {
	for _, pair := range c.inside {
		c.seen[pair] = true
	}
	u.through = append(u.through, c.through...)
	c.found(u)
}

func (c *fields) compare(old, now []*model.Field) {
	for _, f := range now {
		was := former(old, f)
		if was != nil && !slices.ContainsFunc(now, func(f *model.Field) bool { return f.Name == was.Name }) {
			u := unread{about: c.at, was: was.Name}
			u.field = f.Name
			c.found(u)
		}
		switch {
		case f.Source.Kind == model.FromRecord: // every record has it
			if was != nil && placeOf(was.Source) == placeOf(f.Source) {
				c.types(f, was.Type)
			}
		case was == nil && f.Source.Kind == model.FromRecordKey: // as it has to be
			c.report(f.Name, firstKeyed, "part %q of the record key is now read; it was not before", f.Name)
		case was == nil && required(f):
			c.added(f, old, now)
		case was == nil:
			c.renamed(f, old, now)
		case f.Source.Kind == model.FromRecordKey && was.SamePart != nil && slices.Equal(f.Source.Part.Path, was.SamePart.Path): // they have the same value
			c.types(f, was.SamePart.Type)
		case placeOf(f.Source) != placeOf(was.Source):
			c.moved(f, was, now)
		case f.SamePart != nil && was.SamePart != nil && !slices.Equal(f.SamePart.Path, was.SamePart.Path):
			c.report(f.Name, firstKeyed, "part %q of the record key is now read at %s; it was at %s", f.Name, definition.Path(f.SamePart.Path), definition.Path(was.SamePart.Path))
		case required(f) && !required(was):
			c.report(f.Name, firstOptional, "field %q is now required; it was not before", f.Name)
		case f.Type.Optional || !was.Type.Optional:
			c.types(f, was.Type)
		case f.Default != nil:
			c.report(f.Name, firstNull, "field %q may no longer be null: its default is for records without it", f.Name)
		default: // a patch
			c.report(f.Name, firstNull, "field %q may no longer be null", f.Name)
		}
	}
}

// required reports whether records must have a field.
func required(f *model.Field) bool { return !f.Type.Optional && f.Default == nil && !f.Patch }

// moved reports a field that is not read any more where older records have it: they are refused,
// or lose it without a word, unless another field reads it there.
func (c *fields) moved(f, was *model.Field, now []*model.Field) {
	there := func(o *model.Field) bool { return placeOf(o.Source) == placeOf(was.Source) }
	loses := !required(f)
	if loses && slices.ContainsFunc(now, there) {
		return
	}
	u := unread{about: c.at, moved: true, loses: loses, do: firstBoth}
	u.field, u.what = f.Name, fmt.Sprintf("field %q is now read at %s; it was at %s", f.Name, placeOf(f.Source), placeOf(was.Source))
	c.find(u)
}

// added reports a new field that records must have. If it is one of before under another name,
// declaring it optional would lose its values.
func (c *fields) added(f *model.Field, old, now []*model.Field) {
	was, same := gone(f, old, now)
	if !same {
		c.report(f.Name, firstOptional, "field %q is new and required", f.Name)
		return
	}
	c.instead(f, was, unread{do: firstRenamed, what: fmt.Sprintf("field %q is new and required, and %q of the same type is gone", f.Name, was.Name)})
}

// renamed reports a field that records of before may hold under another name.
func (c *fields) renamed(f *model.Field, old, now []*model.Field) {
	was, same := gone(f, old, now)
	if was == nil {
		return
	}
	what := "field %q is new, and %q of the same type is gone: if it is the same field, it was renamed"
	if !same {
		what = "field %q is new, and %q of a different type is gone: its values in records are ignored, even if it is the same field under another name"
	}
	c.instead(f, was, unread{loses: true, do: firstBeside, what: fmt.Sprintf(what, f.Name, was.Name)})
}

// instead reports a new field, and marks one that is gone as told.
func (c *fields) instead(f, was *model.Field, u unread) {
	u.about = c.at
	u.field = f.Name
	former := c.at
	former.field = was.Name
	u.through = []about{former}
	c.find(u)
}

// gone finds the field of before that a new one may be under another name: one that is gone, of
// the same type, or else of a type that no other new field has; nil if there is none.
func gone(f *model.Field, old, now []*model.Field) (was *model.Field, sameTyped bool) {
	fresh := unmatched(now, old)
	inPayload := func(f *model.Field) bool { return f.Source.Kind == model.FromPayload }
	for _, same := range []bool{true, false} {
		for _, was := range unmatched(old, now) {
			typed := func(is *model.Field) bool { return sameType(is.Type, was.Type) && inPayload(is) == inPayload(was) }
			fixed := was.Source.Kind == model.FromRecord
			if typed(f) != same || inPayload(f) != inPayload(was) || !same && (fixed || slices.ContainsFunc(fresh, typed)) {
				continue
			}
			return was, same
		}
	}
	return nil, false
}

// unmatched are the fields of one version that the other has neither by name nor by place.
func unmatched(fields, others []*model.Field) (all []*model.Field) {
	for _, f := range fields {
		if former(others, f) == nil {
			all = append(all, f)
		}
	}
	return all
}

// former finds what a field was: at the same place, or else of the same name; nil if it was not
// there.
func former(old []*model.Field, f *model.Field) (found *model.Field) {
	best := 0
	for _, was := range old {
		score := 0
		if placeOf(was.Source) == placeOf(f.Source) {
			score += 2
		}
		if was.Name == f.Name {
			score++
		}
		if score > best {
			found, best = was, score
		}
	}
	return found
}

// placeOf is where a field is read, as messages say it.
func placeOf(s model.Source) string {
	switch s.Kind {
	case model.FromHeader:
		if s.Binary {
			return "header " + s.Header + " (binary)"
		}
		return "header " + s.Header
	case model.FromRecord:
		return "record " + s.Record
	case model.FromRecordKey:
		return "record_key " + definition.Path(s.Part.Path)
	}
	return definition.Path(s.Path)
}

// types reports a type that takes less than the one before.
func (c *fields) types(f *model.Field, old model.FieldType) {
	at := c.at
	at.field = f.Name
	c.through = append(c.through, at)
	defer func() { c.through = c.through[:len(c.through)-1] }()
	if !c.takes(f, old, f.Type) {
		c.report(f.Name, firstJSON, "field %q is now %s; it was %s", f.Name, typeText(f.Type), typeText(old))
	}
}

// wider are the types that take whatever a type takes, in a payload.
var wider = map[string]string{
	"int32": "int64 decimal", "int64": "decimal", "float64": "decimal", "epoch_days": "int32 int64 decimal float64",
	"epoch_s": "any_epoch_s decimal float64", "epoch_ms": "any_epoch_ms int64 decimal float64", "epoch_us": "any_epoch_us int64 decimal float64", "epoch_ns": "any_epoch_ns int64 decimal float64",
	"any_epoch_s": "decimal float64", "any_epoch_ms": "int64 decimal float64", "any_epoch_us": "int64 decimal float64", "any_epoch_ns": "int64 decimal float64",
	"uuid": "string", "timestamp": "string", "local_timestamp": "string", "date": "string", "bytes": "string",
}

// takes reports whether every value of the type old is one of the type now, as field f reads it.
// What changed inside a type of the spec is reported there.
func (c *fields) takes(f *model.Field, old, now model.FieldType) bool {
	inPayload := f.Source.Kind == model.FromPayload
	switch {
	case now.Kind == model.JSON:
		return old.Kind == model.JSON || inPayload
	case now.Elem != nil:
		return old.Kind == now.Kind && c.takes(f, *old.Elem, *now.Elem)
	case old.Elem != nil:
		return false
	case old.Named == nil && now.Named == nil:
		binary := f.Source.Binary || c.binary && (f.Source.Kind == model.FromRecordKey || f.SamePart != nil)
		if old.Kind == model.Bytes && !inPayload || binary { // as they are, not as text of a payload
			return sameType(old, now)
		}
		return sameType(old, now) || slices.Contains(strings.Fields(wider[typeText(old)]), typeText(now))
	case now.Named == nil:
		return now.Kind == model.String && old.Kind == model.Enum
	case old.Kind != now.Kind:
		return false
	}
	pair := [2]*model.Type{old.Named, now.Named}
	switch lossy, seen := c.seen[pair]; {
	case !seen:
		c.seen[pair] = false
		c.inside = append(c.inside, pair)
		c.members(old.Named, now.Named)
		c.inside = c.inside[:len(c.inside)-1]
	case lossy:
		c.find(unread{about: c.at})
	}
	return true
}

// members compares two types of the spec.
func (c *fields) members(was, is *model.Type) {
	outer := c.at
	c.at.typ = is.Name
	var gone []string
	for _, v := range was.Enum {
		if !slices.ContainsFunc(is.Enum, func(o model.EnumValue) bool { return o.Text == v.Text }) {
			gone = append(gone, strconv.Quote(v.Text))
		}
	}
	if len(gone) > 0 {
		c.report("", firstText, "%s is no longer a value of %q", strings.Join(gone, ", "), is.Name)
	}
	c.compare(was.Fields, is.Fields)
	c.at = outer
}

// settled reports whether nothing more is to be said of what was found: it is a field with another
// name, or was reported for another event. It marks the fields whose types lead there as told.
func (c *comparison) settled(u unread) bool {
	for _, a := range u.through {
		c.tellField(a)
	}
	if u.was == "" {
		return u.what == ""
	}
	of, path := fmt.Sprintf("event %q of %s", u.event, u.topic), []string{"topics", u.topic, "events", u.event, "fields"}
	if u.typ != "" {
		of, path = fmt.Sprintf("type %q", u.typ), []string{"types", u.typ, "fields"}
	}
	c.add(GoCallers, fmt.Sprintf("%s: field %q was called %q", of, u.field, u.was),
		"it is read at the same place; the struct's field has a different name"+c.otherContent(path), "")
	c.tellField(u.about)
	u.field = u.was
	c.tellField(u.about)
	return true
}

// tellField marks the places where a spec may declare a field as told.
func (c *comparison) tellField(a about) {
	topic := "/topics/" + a.topic
	switch {
	case a.field == "":
	case a.typ != "":
		c.tell("/types/" + a.typ + "/fields/" + a.field)
	default:
		c.tell(topic+"/events/"+a.event+"/fields/"+a.field, topic+"/fields/"+a.field)
	}
}

// sameType reports whether a spec writes two types alike, optional aside.
func sameType(a, b model.FieldType) bool { return typeText(a) == typeText(b) }

// typeText is a type without optional, as a spec writes it.
func typeText(t model.FieldType) string {
	switch {
	case t.Kind == model.List:
		return "list(" + typeText(*t.Elem) + ")"
	case t.Kind == model.Map:
		return "map(" + typeText(*t.Elem) + ")"
	case t.Named != nil:
		return t.Named.Name
	case t.AnyTime: // which is no other content
		return "any_" + definition.Scalar(t)
	}
	return definition.Scalar(t)
}

// results are the changes after which one version cannot read what a call returned to another.
func (c *comparison) results() {
	compareResults(c.old.Service, c.now.Service, func(u unread) {
		effect := "a recorded result whose event is not yet in the ledger cannot be read: the event becomes a dead letter, and its call is not repeated"
		if u.loses {
			effect = "a recorded result whose event is not yet in the ledger is read without one of its values"
		}
		do := "deploy this when no event is waiting for its rows"
		if u.field != "" && !u.loses {
			do = "declare the field optional, or " + do
		}
		c.result(u, "the result", effect, do)
	})
	compareResults(c.now.Service, c.old.Service, func(u unread) {
		if !u.loses {
			c.result(u, "for the previous version, the result", "it cannot read what a call of this version returned: the event becomes a dead letter, and its call is not repeated",
				firstEnded)
		}
	})
}

func (c *comparison) result(u unread, what, effect, do string) {
	if c.settled(u) {
		return
	}
	c.add(Results, fmt.Sprintf("%s of event %q of %s: %s", what, u.event, u.topic, u.what), effect, do)
	c.tell("/types/" + u.typ + "/fields/" + u.field)
	if u.field == "" {
		c.tell("/types/" + u.typ + "/enum")
	}
}

// compareResults finds the changes after which a result that old recorded cannot be read.
func compareResults(old, now *model.Service, found func(unread)) {
	c := newFields(found)
	for _, t := range now.Topics {
		for _, e := range t.Events {
			before := eventOf(old, t.Name, e.Name)
			if !e.Returns() || before == nil || before.Effect == nil {
				continue // without a result nothing is read
			}
			c.at = about{topic: t.Name, event: e.Name, typ: e.Effect.Result.Name}
			if before.Effect.Result == nil { // not even a type without required fields takes that
				found(unread{about: c.at, what: fmt.Sprintf("there was none, and %q is now read", c.at.typ)})
				continue
			}
			c.compare(before.Effect.Result.Fields, e.Effect.Result.Fields)
		}
	}
}

// eventOf finds an event of a version; nil if it is not there.
func eventOf(s *model.Service, topic, name string) *model.Event {
	if t := topicOf(s, topic); t != nil {
		if i := slices.IndexFunc(t.Events, func(e *model.Event) bool { return e.Name == name }); i >= 0 {
			return t.Events[i]
		}
	}
	return nil
}
