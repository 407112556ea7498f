package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// reads reports whether records of an event of old are records of an event of now.
func reads(old, now Dispatch, was, is string) bool {
	before, after := old.told(was), now.told(is)
	switch {
	case before.Tombstone || after.Tombstone:
		return before.Tombstone && after.Tombstone
	case was == is, now.ToldBy == "":
		return true
	}
	return slices.ContainsFunc(before.Texts, now.takes(old, after))
}

// extends reports whether further texts tell the events of d than those of o.
func (d Dispatch) extends(o Dispatch) bool {
	return o.ToldBy != "" && strings.HasPrefix(d.ToldBy, o.ToldBy+and)
}

// cut is what is left of a type where further texts told the events.
func (d Dispatch) cut(typ string) string {
	n := strings.Count(d.ToldBy, and) + 1
	texts := strings.SplitN(typ, "/", n+1)
	return strings.Join(texts[:min(n, len(texts))], "/")
}

// takes returns whether one of the events takes records of a text that they had before.
func (d Dispatch) takes(old Dispatch, events ...Told) func(text string) bool {
	return func(text string) bool {
		if old.extends(d) {
			text = d.cut(text)
		}
		return slices.ContainsFunc(events, func(e Told) bool { return slices.Contains(e.Texts, text) })
	}
}

// payload reports records that are written in another way.
func (c *comparison) payload(old *model.Payload, t *model.Topic) {
	if t.Payload.Encoding != old.Encoding {
		c.unhandled(About{Topic: t.Name, What: Encoding}, "", firstRead, "payload.encoding is %s, and was %s",
			cmp.Or(t.Payload.Encoding, "plain"), cmp.Or(old.Encoding, "plain"))
	}
	if is, was := t.Payload.Messages, old.Messages; is != nil && was != nil && is.Name != was.Name {
		c.unhandled(About{Topic: t.Name, What: Encoding}, "", firstRead, "payload.schema names message %s, and named %s", cmp.Or(is.Name, "of all the file"), cmp.Or(was.Name, "of all the file"))
	} else if is != nil && was != nil && is.Framed == was.Framed {
		for _, field := range slices.Sorted(maps.Keys(is.Layout)) {
			if now, before := is.Layout[field], was.Layout[field]; before == "" || now == before {
				continue
			} else if field != "" {
				c.unhandled(About{Topic: t.Name, What: Encoding}, "", firstRead, "field %s is %s, and was %s: what was written before is read as something else, or not at all", field, now, before)
			} else {
				c.unhandled(About{Topic: t.Name, What: Encoding}, "", firstRead, "the schema in %s is another one, with which records that were written before cannot be read", is.File)
			}
		}
	}
	if t.Payload.AbsentMarker != old.AbsentMarker {
		c.add(Unread{About: About{Topic: t.Name, What: Payload}, Loses: true, Remedy: firstRead,
			Change: fmt.Sprintf("payload.absent_marker is %s, and was %s", marker(t.Payload.AbsentMarker), marker(old.AbsentMarker))})
	}
}

// dispatch reports records if nothing tells any more what event they are.
func (c *comparison) dispatch(old, now Dispatch, t *model.Topic) {
	moved := now.ToldBy != old.ToldBy && !old.extends(now) && !now.extends(old)
	switch {
	case now.ToldBy == "":
		return // they are all of the one event
	case moved && old.ToldBy == "":
		c.unhandled(About{Topic: t.Name, What: EventType}, "", firstRead,
			"event_type is read at %s, and was not read", now.ToldBy)
	case moved:
		c.unhandled(About{Topic: t.Name, What: EventType}, "", "have producers send both until the older records are read, or deploy this when they are",
			"event_type is read at %s, and was at %s", now.ToldBy, old.ToldBy)
	}
	for _, was := range old.Events {
		var gone []string
		for _, text := range was.Texts {
			if !slices.Contains(t.Ignore, text) && !now.takes(old, now.Events...)(text) {
				gone = append(gone, strconv.Quote(text))
			}
		}
		about := About{Topic: t.Name, Event: was.Event, What: Type}
		if len(gone) > 0 && !t.SkipUnknown {
			c.unhandled(about, t.OnFailure.GiveUp, "keep the text until the records that hold it are read, or list it under ignore",
				"%s is no type of an event any more", strings.Join(gone, ", "))
		}
	}
}

func marker(text string) string {
	if text == "" {
		return "not there"
	}
	return strconv.Quote(text)
}

// tombstones reports records without a value, if the event that took them is gone.
func (c *comparison) tombstones(old, now Dispatch, t *model.Topic) {
	isTombstone := func(e Told) bool { return e.Tombstone }
	i := slices.IndexFunc(old.Events, isTombstone)
	if i < 0 || slices.ContainsFunc(now.Events, isTombstone) || t.SkipTombstone {
		return
	}
	c.unhandled(About{Topic: t.Name, Event: old.Events[i].Event, What: Type}, t.OnFailure.GiveUp,
		"keep the event until the older records are read, or say skip: [tombstone]", "no event is the tombstone any more")
}

func (c *comparison) unhandled(about About, policy, remedy, change string, args ...any) {
	c.add(Unread{About: about, Halts: policy == "stop", Remedy: remedy, Change: fmt.Sprintf(change, args...)})
}

// headers reports headers that the key of an event needs and did not need before.
func (c *comparison) headers(old, now *Key, fields []wireField) {
	if now == nil {
		return
	}
	for _, part := range now.Parts {
		name, isHeader := headerOf(part)
		if !isHeader || old != nil && slices.Contains(old.Parts, part) {
			continue
		}
		needed := slices.ContainsFunc(fields, func(f wireField) bool { return f.need == "" && f.place == "header "+name })
		if !needed {
			about := About{Topic: now.Topic, Event: now.Event, What: KeySource}
			c.unhandled(about, "", "deploy this when the older records are read, or make sure that they have it",
				"the key needs header %q, which older records may lack", name)
		}
	}
}

// headerOf is the name in a part that is a header.
func headerOf(part string) (string, bool) {
	quoted, ok := strings.CutPrefix(part, "header ")
	name, err := strconv.Unquote(quoted)
	return name, ok && err == nil
}
