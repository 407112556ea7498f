package evolution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// What to do about records that cannot be read.
const (
	firstRead     = "deploy this once the older records have been read"
	firstOptional = "declare it optional or with a default until the older records have been read, or deploy this once they have"
	firstNull     = "keep it optional until the older records have been read, or deploy this once they have"
	firstBoth     = "declare the new place as a field of its own beside this one, both optional, until the older records have been read, or deploy this once they have"
	firstBeside   = "keep the former field beside it, as docs/patterns.md shows (\"While a member is renamed\"), until the older records have been read, or deploy this once they have"
	firstRenamed  = "if it is the same field under another name, " + firstBeside + "; if it is a different field, declare it optional or with a default until then"
	firstJSON     = "declare it json until the older records have been read, or deploy this once they have"
	firstKeyed    = "make sure that the older records have that record key, or deploy this once they have been read"
	firstEnded    = "stop the previous version before this one starts"
	firstText     = "keep the value until the records that contain it have been read"
)

const (
	becomeDead = "records from before this change become dead letters"
	haltThem   = "records from before this change halt their partition"
	loseValues = "records from before this change are read without a value that they have, or with a different one, and nothing reports it"
)

// records are the changes after which records of the older version cannot be read.
func (c *comparison) records() {
	if is, was := c.now.Service.Limits.MaxPayload, c.old.Service.Limits.MaxPayload; is < was {
		c.tell("/limits/max_payload")
		c.add(DeadLetters, fmt.Sprintf("max_payload is now %d; it was %d", is, was), becomeDead, "keep the former limit until the larger records have been read")
	}
	f := newFields(c.unread)
	for _, now := range c.now.Service.Topics {
		old := topicOf(c.old.Service, now.Name)
		if old == nil {
			continue // nobody read it
		}
		f.binary = now.RecordKey != nil && now.RecordKey.Encoding == "binary"
		c.payload(old, now)
		c.types(old, now)
		for _, e := range now.Events {
			for _, o := range old.Events {
				if takes(old, now, o, e) {
					f.at = about{topic: now.Name, event: e.Name}
					f.compare(o.Fields, e.Fields)
					c.headers(now, o, e)
				}
			}
		}
	}
}

func topicOf(s *model.Service, name string) *model.Topic {
	for _, t := range s.Topics {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// payload are the changes of how the values and the keys of a topic are written.
func (c *comparison) payload(old, now *model.Topic) {
	if is, was := now.RecordKey, old.RecordKey; is != nil && was != nil {
		c.packing(now.Name, "record_key_format", &was.Packed, &is.Packed)
		if whole(is) && whole(was) && is.JSON != was.JSON {
			if is.Encoding == was.Encoding { // else that was said
				c.add(DeadLetters, "topic "+now.Name+": record_key is now read as "+forms[is.JSON]+"; it was read as "+forms[was.JSON], becomeDead, firstRead)
			}
			part := "/topics/" + now.Name + "/record_key/" + is.Parts[0].Name
			c.tell(part, part+"/path", part+"/type")
		}
	}
	c.packing(now.Name, "payload", &old.Payload.Packed, &now.Payload.Packed)
	if is, was := now.Payload.AbsentMarker, old.Payload.AbsentMarker; is != was {
		c.written(now.Name, "payload", "absent_marker", LosesValues, loseValues, "payload.absent_marker is now %s; it was %s", marker(is), marker(was))
	}
}

// packing are the changes of what values or keys are packed in; under is where the spec says it.
func (c *comparison) packing(topic, under string, was, is *model.Packed) {
	dead := func(what string, args ...any) {
		c.written(topic, under, "encoding", DeadLetters, becomeDead, what, args...)
	}
	if is.Encoding != was.Encoding {
		dead("%s.encoding is now %s; it was %s", under, cmp.Or(is.Encoding, "plain"), cmp.Or(was.Encoding, "plain"))
	}
	now, before := is.Messages, was.Messages
	switch {
	case now == nil || before == nil:
	case now.Name != before.Name:
		dead("%s.schema now names message %s; it named %s", under, cmp.Or(now.Name, "of all the file"), cmp.Or(before.Name, "of all the file"))
	case now.Framed == before.Framed:
		for _, field := range slices.Sorted(maps.Keys(now.Layout)) {
			switch is, was := now.Layout[field], before.Layout[field]; {
			case was == "" || is == was:
			case field != "":
				dead("field %s is now %s; it was %s: older records are read as something else, or not at all", field, is, was)
			default:
				dead("the schema in %s has changed, and older records cannot be read with it", now.File)
			}
		}
	}
}

// written tells of a change of how values or keys are written.
func (c *comparison) written(topic, under, key string, v Verdict, effect, what string, args ...any) {
	c.add(v, "topic "+topic+": "+fmt.Sprintf(what, args...), effect, firstRead)
	c.tell("/topics/" + topic + "/" + under + "/" + key)
}

// whole reports whether a record key is one value, without members.
func whole(k *model.RecordKey) bool { return len(k.Parts) == 1 && len(k.Parts[0].Path) == 0 }

var forms = map[bool]string{true: "JSON", false: "text"}

func marker(text string) string {
	if text == "" {
		return "not there"
	}
	return strconv.Quote(text)
}

// types are the changes after which nothing tells which event a record is.
func (c *comparison) types(old, now *model.Topic) {
	c.tombstone(old, now)
	after, before := places(now.EventType), places(old.EventType)
	moved := !slices.Equal(after, before) && !extends(old, now) && !extends(now, old)
	said := func(do, what string, args ...any) {
		c.add(DeadLetters, "topic "+now.Name+": "+fmt.Sprintf(what, args...), becomeDead, do)
		c.tell("/topics/" + now.Name + "/event_type")
	}
	switch {
	case len(after) == 0:
		return // they are all of the one event
	case moved && len(before) == 0:
		said(firstRead, "event_type is now read at %s; it was not read before", strings.Join(after, " / "))
	case moved:
		said("let producers send both until the older records have been read, or deploy this once they have",
			"event_type is now read at %s; it was at %s", strings.Join(after, " / "), strings.Join(before, " / "))
	}
	for _, was := range old.Events {
		var gone []string
		for _, text := range was.Types {
			taken := slices.ContainsFunc(now.Events, func(e *model.Event) bool { return takesText(old, now, text, e) })
			if !taken && !slices.Contains(now.Ignore, text) {
				gone = append(gone, strconv.Quote(text))
			}
		}
		if len(gone) > 0 && !now.SkipUnknown {
			c.unhandled(now, was, "keep the value until the records that contain it have been read, or list it under ignore", strings.Join(gone, ", ")+" is no longer the type of an event")
		}
	}
}

// unhandled says that records of an event are of none any more.
func (c *comparison) unhandled(t *model.Topic, e *model.Event, do, what string) {
	effect := becomeDead
	if t.OnFailure.GiveUp == "stop" {
		effect = haltThem
	}
	c.add(DeadLetters, fmt.Sprintf("event %q of %s: %s", e.Name, t.Name, what), effect, do)
	place := "/topics/" + t.Name + "/events/" + e.Name
	c.tell(place, place+"/type", place+"/tombstone")
}

// tombstone reports records without a value, if the event that took them is gone.
func (c *comparison) tombstone(old, now *model.Topic) {
	is := func(e *model.Event) bool { return e.Tombstone }
	i := slices.IndexFunc(old.Events, is)
	if i >= 0 && !slices.ContainsFunc(now.Events, is) && !now.SkipTombstone {
		c.unhandled(now, old.Events[i], "keep the event until the older records have been read, or write skip: [tombstone]", "no event is the tombstone any longer")
	}
}

// headers are those that the key of an event needs and did not need before.
func (c *comparison) headers(t *model.Topic, old, now *model.Event) {
	if now.Key == nil || now.Key.Offset {
		return
	}
	for _, part := range now.Key.Parts {
		same := func(p model.KeySource) bool { return p.Field == nil && p.Header == part.Header }
		if part.Field != nil || old.Key != nil && !old.Key.Offset && slices.ContainsFunc(old.Key.Parts, same) {
			continue
		}
		needed := func(f *model.Field) bool {
			return f.Source.Kind == model.FromHeader && f.Source.Header == part.Header && required(f)
		}
		if slices.ContainsFunc(old.Fields, needed) {
			continue
		}
		c.add(DeadLetters, fmt.Sprintf("event %q of %s: the key needs header %q, which older records may lack", now.Name, t.Name, part.Header), becomeDead,
			"deploy this once the older records have been read, or make sure that they have it")
		place := "/topics/" + t.Name
		c.tell(place+"/idempotency_key/source", place+"/events/"+now.Name+"/idempotency_key/source")
	}
}

// unread says that a field of records cannot be read as before.
func (c *comparison) unread(u unread) {
	if c.settled(u) {
		return
	}
	verdict, effect := DeadLetters, becomeDead
	if u.loses {
		verdict, effect = LosesValues, loseValues
	}
	c.add(verdict, fmt.Sprintf("event %q of %s: %s", u.event, u.topic, u.what), effect, u.do)
	topic := "/topics/" + u.topic
	event := topic + "/events/" + u.event
	if u.moved { // the key whose change moved it needs no line of its own
		c.tell(topic + "/payload/naming")
	}
	c.tellField(u.about)
	c.tell(topic+"/record_key", event+"/tombstone")
	if u.field == "" {
		c.tell("/types/" + u.typ + "/enum")
	}
}

// takes reports whether records of an event of before are records of an event of now.
func takes(old, now *model.Topic, was, is *model.Event) bool {
	switch {
	case was.Tombstone || is.Tombstone:
		return was.Tombstone && is.Tombstone
	case was.Name == is.Name, len(now.EventType) == 0:
		return true
	}
	return slices.ContainsFunc(was.Types, func(text string) bool { return takesText(old, now, text, is) })
}

// takesText reports whether records with a text as their type are records of an event. The text is
// cut to its first parts, if fewer parts told the events apart before.
func takesText(old, now *model.Topic, text string, e *model.Event) bool {
	if extends(old, now) {
		n := len(now.EventType)
		parts := strings.SplitN(text, "/", n+1)
		text = strings.Join(parts[:min(n, len(parts))], "/")
	}
	return slices.Contains(e.Types, text)
}

// extends reports whether further texts tell the events of a apart than those of b.
func extends(a, b *model.Topic) bool {
	long, short := places(a.EventType), places(b.EventType)
	return len(short) > 0 && len(long) > len(short) && slices.Equal(long[:len(short)], short)
}

// places are where the texts are that tell events apart.
func places(all []model.Discriminator) (names []string) {
	for _, by := range all {
		names = append(names, placeOf(model.Source{Kind: sourceOf(by), Header: by.Header, Path: by.Path}))
	}
	return names
}

func sourceOf(by model.Discriminator) model.SourceKind {
	if by.Header != "" {
		return model.FromHeader
	}
	return model.FromPayload
}
