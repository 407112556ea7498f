// Package explain says of each event of a spec in plain words what is promised: what makes it one
// event, which copies are known, what orders it, what becomes of records that cannot be applied.
// A sentence is there only where the model says that it holds. docs/spec.md has the rules. It must
// not import any package of this module but model.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Topic is an entry of topics in sentences.
type Topic struct {
	Topic   string  `json:"topic"`
	Unknown string  `json:"unknown"` // what becomes of records that are no event
	Events  []Event `json:"events"`
}

// Event is an event in sentences; "" where there is nothing to say.
type Event struct {
	Event      string `json:"event"`
	Identity   string `json:"identity"`           // what makes two records one event
	Duplicates string `json:"duplicates"`         // which copies are recognised, and for how long
	Conflict   string `json:"conflict,omitempty"` // a known key with other content
	Order      string `json:"order"`              // of its rows
	Stale      string `json:"stale,omitempty"`    // what an older event does
	Broken     string `json:"broken"`             // a record that cannot be applied
	Failing    string `json:"failing,omitempty"`  // Go code that returns an error
	Effect     string `json:"effect,omitempty"`   // what happens outside of Postgres
	Faster     string `json:"faster,omitempty"`   // what would be, if a promise held
}

// Service says it of all events.
func Service(s *model.Service) (topics []Topic) {
	for _, t := range s.Topics {
		topic := Topic{Topic: t.Name, Unknown: unknown(t), Events: []Event{}}
		for _, e := range t.Events {
			topic.Events = append(topic.Events, event(e))
		}
		topics = append(topics, topic)
	}
	return topics
}

func event(e *model.Event) Event {
	return Event{
		Event: e.Name, Identity: Identity(e), Duplicates: duplicates(e), Conflict: conflict(e), Order: order(e), Stale: stale(e),
		Broken: broken(e), Failing: failing(e), Effect: effect(e), Faster: faster(e),
	}
}

// Identity says what makes two records one event.
func Identity(e *model.Event) string {
	if e.Key.Offset {
		return "It has no idempotency key; topic, partition and offset identify it."
	}
	var parts []string
	for _, p := range e.Key.Parts {
		parts = append(parts, source(p))
	}
	return fmt.Sprintf("Its idempotency key is %s; records with the same key are one event.", and(parts))
}

// source is a part of a key, and where it is read from.
func source(p model.KeySource) string {
	if p.Field == nil {
		return fmt.Sprintf("header %q", p.Header)
	}
	from := "payload"
	switch s := p.Field.Source; s.Kind {
	case model.FromHeader:
		from = fmt.Sprintf("header %q", s.Header)
	case model.FromRecordKey:
		from = "record key"
	case model.FromRecord:
		from = "the record's " + s.Record
	default:
		if path := strings.Join(s.Path, "."); path != p.Field.Name {
			from = fmt.Sprintf("payload at %q", path)
		}
	}
	return fmt.Sprintf("%s (%s)", p.Field.Name, from)
}

func duplicates(e *model.Event) string {
	window := model.DurationText(e.Key.Window)
	switch {
	case e.Key.Offset && e.Topic.UniqueRecords:
		return "A record that Kafka delivers again has no second effect; the producer sends no event twice, as assume: [unique] promises."
	case e.Key.Offset:
		return "A record that Kafka delivers again has no second effect; one that the producer sends again is another event."
	case e.Key.SamePartition:
		return fmt.Sprintf("A copy has no effect for %s at least, in the partition of the first one; in another one it would take effect again.", window)
	}
	return fmt.Sprintf("A copy has no effect for %s at least, through whatever partition it comes.", window)
}

func conflict(e *model.Event) string {
	switch {
	case e.Key.Offset:
		return ""
	case len(e.Key.Compared) == 0:
		return "Whatever carries a known key is a copy: no content is compared."
	}
	var names []string
	for _, f := range e.Key.Compared {
		if !slices.ContainsFunc(e.Key.Parts, func(p model.KeySource) bool { return p.Field == f }) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("With a known key and another %s it is a conflict, and %s.", or(names), fate(e.OnFailure))
}

// fate is what becomes of a record that cannot be applied.
func fate(p model.FailurePolicy) string {
	if p.GiveUp == "stop" {
		return "halts its partition"
	}
	return "becomes a dead letter"
}

func order(e *model.Event) string {
	if !e.Topic.Ordered {
		return "It takes effect in the order of its partition; nothing orders it against other partitions."
	}
	var parts []string
	for _, p := range e.Topic.RecordKey.Parts {
		parts = append(parts, p.Name)
	}
	text := fmt.Sprintf("It takes effect in the order of its partition, which holds all records of one %s, as assume: [ordered] promises", and(parts))
	if len(e.Topic.Kafka) > 1 {
		text += "; nothing orders its topics against each other"
	}
	return text + "."
}

func stale(e *model.Event) string {
	var skipped []string
	for _, s := range e.Steps {
		if c := s.If.Newer; c != nil {
			skipped = append(skipped, fmt.Sprintf("%s of %s if %s is not greater than the stored one", s.Verb, s.Table.Name, c.Name))
		}
	}
	switch {
	case len(skipped) == 0:
		return ""
	case e.Handle:
		return "It skips its " + and(skipped) + "; its handler runs all the same."
	}
	return "It skips its " + and(skipped) + "."
}

func broken(e *model.Event) string {
	why := []string{"does not decode"}
	if !e.Key.Offset {
		why = append(why, "has no key")
	}
	if len(e.Steps) > 0 {
		why = append(why, "does not fit its columns", "is refused by Postgres")
	}
	p, waits := e.OnFailure, ""
	if e.Topic.Payload.Messages.Registry() {
		waits = " A record waits while the registry does not answer for its schema."
	}
	text := fmt.Sprintf("A record that %s %s", or(why), fate(p))
	if p.GiveUp == "stop" {
		return text + "." + waits
	}
	text += fmt.Sprintf(", open for %s", model.DurationText(p.Keep))
	if p.Drop {
		text += " and without the record"
	}
	if p.Park {
		text += "; later records of its record key wait behind it"
	}
	return fmt.Sprintf("%s; its partition halts when more than %s would stand in a row.%s", text, count(p.StopAfter, "dead letter"), waits)
}

func failing(e *model.Event) string {
	what, after := "", "an error"
	if e.Effect != nil && e.Effect.Interrupts {
		after += " that says that nothing was done"
	}
	switch {
	case e.Handle && e.Effect != nil:
		what = "its call is made, or its handler called,"
	case e.Handle:
		what = "its handler is called"
	case e.Effect != nil:
		what = "its call is made"
	default:
		return ""
	}
	if e.OnFailure.Retries == 0 {
		return fmt.Sprintf("After an error that is no outage the record %s at once.", fate(e.OnFailure))
	}
	return fmt.Sprintf("After %s %s %s more, outages not counted, unless the error is permanent; then the record %s.", after, what, count(e.OnFailure.Retries, "time"), fate(e.OnFailure))
}

func effect(e *model.Event) string {
	f := e.Effect
	switch {
	case f == nil && e.Handle:
		return "What its handler does outside of Postgres may happen more than once."
	case f == nil:
		return ""
	}
	text := "A healthy system makes one call for it, before its transaction; a call of which nobody knows what it did "
	if f.Interrupts {
		text += fate(e.OnFailure) + ", and a person decides"
	} else {
		text += "is made again, under the same key and with a greater token"
	}
	if f.Lock != nil {
		text += fmt.Sprintf("; no two calls that lock the same value of %s run at the same time", f.Lock.Name)
	}
	return text + "."
}

func faster(e *model.Event) string {
	t := e.Topic
	if e.Key.Offset || e.Key.SamePartition || t.RecordKey == nil || len(t.Kafka) > 1 {
		return ""
	}
	const what = "copies: same_partition would keep its keys in the ledger, without writing a table of keys"
	var needs []string
	if !t.Ordered {
		needs = append(needs, "all records of one record key are in one partition, in their order (assume: [ordered])")
	}
	if !holds(e.Key, t.RecordKey) && !t.CopiesKeepKey {
		needs = append(needs, "all copies carry the record key of the first one (assume: [copies_keep_record_key])")
	}
	if len(needs) == 0 {
		return "What the spec says proves that " + what + "."
	}
	return "If " + and(needs) + ", " + what + "."
}

// holds reports whether an idempotency key holds the whole record key.
func holds(k *model.IdempotencyKey, of *model.RecordKey) bool {
	for _, p := range of.Parts {
		if !slices.ContainsFunc(k.Parts, func(s model.KeySource) bool {
			return s.Field != nil && (s.Field.Source.Part == p || s.Field.SamePart == p)
		}) {
			return false
		}
	}
	return true
}

func unknown(t *model.Topic) string {
	var all []string
	if len(t.EventType) > 0 {
		of := "one of a type that no event has " + fate(t.OnFailure)
		if t.SkipUnknown {
			of = "one of a type that no event has is passed over"
		}
		if len(t.Ignore) > 0 {
			all = append(all, fmt.Sprintf("one of type %s is passed over", or(t.Ignore)))
		}
		all = append(all, of)
	}
	none := "one without a value " + fate(t.OnFailure)
	if i := slices.IndexFunc(t.Events, func(e *model.Event) bool { return e.Tombstone }); i >= 0 {
		none = "one without a value is " + t.Events[i].Name
	} else if t.SkipTombstone {
		none = "one without a value is passed over"
	}
	return "A record" + strings.TrimPrefix(strings.Join(append(all, none), "; "), "one") + "."
}

func and(words []string) string { return join(words, "and") }

func or(words []string) string { return join(words, "or") }

// join is a list in words.
func join(words []string, last string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
}

// count is a number of things.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
