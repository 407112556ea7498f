// Package explain describes, in sentences, which rows each event of a spec writes and what is
// guaranteed for it: its identity, which duplicates are recognized, its order, and what happens to
// records that cannot be applied.
// It derives every sentence from the model. docs/tables.md has the rules. It must not import any
// package of this module but model.
package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Topic describes an entry of topics.
type Topic struct {
	Topic   string  `json:"topic"`
	Unknown string  `json:"unknown"` // what happens to records that are not an event
	Events  []Event `json:"events"`
}

// Event describes an event. A field is "" if there is nothing to say.
type Event struct {
	Event      string `json:"event"`
	Writes     string `json:"writes"`             // tables, with the verbs and the columns that find a row
	Identity   string `json:"identity"`           // what makes two records one event
	Duplicates string `json:"duplicates"`         // which duplicates are recognized, and for how long
	Conflict   string `json:"conflict,omitempty"` // a known key with different content
	Order      string `json:"order"`              // of its rows
	Stale      string `json:"stale,omitempty"`    // what an older event does
	Broken     string `json:"broken"`             // a record that cannot be applied
	Failing    string `json:"failing,omitempty"`  // Go code that returns an error
	Effect     string `json:"effect,omitempty"`   // what happens outside of Postgres
	Faster     string `json:"faster,omitempty"`   // what would be faster, and under which assumption
}

// Sentences returns what there is to say, in order.
func (e *Event) Sentences() []string {
	all := []string{e.Writes, e.Identity, e.Duplicates, e.Conflict, e.Order, e.Stale, e.Broken, e.Failing, e.Effect, e.Faster}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// Service describes all events.
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
		Event: e.Name, Writes: writes(e), Identity: Identity(e), Duplicates: duplicates(e), Conflict: conflict(e), Order: order(e),
		Stale: stale(e), Broken: broken(e), Failing: failing(e), Effect: effect(e), Faster: faster(e),
	}
}

func writes(e *model.Event) string {
	switch {
	case len(e.Steps) == 0 && e.Handle:
		return "Only its handler writes rows."
	case len(e.Steps) == 0:
		return "It writes no rows."
	}
	var all []string
	for _, s := range e.Steps {
		all = append(all, s.Table.Name+" ("+rows(s)+")")
	}
	text := "It writes " + and(all)
	if e.Handle {
		text += "; then its handler is called"
	}
	return text + "."
}

// rows says what a step does to which rows of its table.
func rows(s *model.Step) string {
	text := s.Verb
	if key := s.FoundBy(); len(key) > 0 {
		text += " by " + strings.Join(model.ColumnNames(key), ", ")
	}
	if s.Many {
		text += "; any number of rows"
	}
	if s.Each != nil {
		text += "; for each of " + s.Each.Name
	}
	if len(s.Cascades) > 0 {
		var changed []string
		for _, t := range s.Cascades {
			changed = append(changed, t.Name)
		}
		text += "; foreign keys also change " + and(changed)
	}
	return text
}

// Identity says what makes two records one event.
func Identity(e *model.Event) string {
	if e.Key.Offset {
		return "Its idempotency key is its topic, partition and offset."
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
		return "A record that Kafka delivers again has no second effect; assume: [unique] promises that the producer sends each event only once."
	case e.Key.Offset:
		return "A record that Kafka delivers again has no second effect; one that the producer sends again counts as a new event."
	case e.Key.SamePartition:
		return fmt.Sprintf("A duplicate in the same partition has no effect for at least %s; in another partition it would take effect again.", window)
	}
	return fmt.Sprintf("A duplicate has no effect for at least %s, in whichever partition it arrives.", window)
}

func conflict(e *model.Event) string {
	switch {
	case e.Key.Offset:
		return ""
	case len(e.Key.Compared) == 0:
		return "Every record with a known key is a duplicate: the content is not compared."
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
	return fmt.Sprintf("A record with a known key but another %s is a conflict, and %s.", or(names), fate(e.OnFailure))
}

// fate is what happens to a record that cannot be applied.
func fate(p model.FailurePolicy) string {
	if p.GiveUp == "stop" {
		return "halts its partition"
	}
	return "becomes a dead letter"
}

func order(e *model.Event) string {
	if !e.Topic.Ordered {
		return "It takes effect in the order of its partition; there is no order across partitions."
	}
	var parts []string
	for _, p := range e.Topic.RecordKey.Parts {
		parts = append(parts, p.Name)
	}
	text := fmt.Sprintf("It takes effect in the order of its partition, which has all records with the same %s (assume: [ordered])", and(parts))
	if len(e.Topic.Kafka) > 1 {
		text += "; there is no order across its topics"
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
		return "It skips its " + and(skipped) + "; its handler is called anyway."
	}
	return "It skips its " + and(skipped) + "."
}

func broken(e *model.Event) string {
	why := []string{"does not decode"}
	if !e.Key.Offset {
		why = append(why, "has no key")
	}
	if len(e.Steps) > 0 {
		why = append(why, "does not fit its columns", "is rejected by Postgres")
	}
	p, waits := e.OnFailure, ""
	if e.Topic.Payload.Messages.Registry() {
		waits = " A record waits while the registry does not respond."
	}
	text := fmt.Sprintf("A record that %s %s", or(why), fate(p))
	if p.GiveUp == "stop" {
		return text + "." + waits
	}
	text += fmt.Sprintf(", which stays open for %s", model.DurationText(p.Keep))
	if p.Drop {
		text += " and does not keep the record"
	}
	if p.Park {
		text += "; later records with the same record key are parked behind it"
	}
	return fmt.Sprintf("%s; the partition halts at more than %s in a row.%s", text, count(p.StopAfter, "dead letter"), waits)
}

func failing(e *model.Event) string {
	what, after := "", "an error"
	if e.Effect != nil && e.Effect.Interrupts {
		after += " that says that the call did nothing"
	}
	switch {
	case e.Handle:
		what = "the handler is called"
	case e.Effect != nil:
		what = "the effect is called"
	default:
		return ""
	}
	if e.OnFailure.Retries == 0 {
		return fmt.Sprintf("After an error other than an outage, the record %s immediately.", fate(e.OnFailure))
	}
	return fmt.Sprintf("After %s, %s up to %s, not counting outages; then, or if the error is permanent, the record %s.", after, what, count(e.OnFailure.Retries, "more time"), fate(e.OnFailure))
}

func effect(e *model.Event) string {
	f := e.Effect
	switch {
	case f == nil && e.Handle:
		return "What its handler does outside of Postgres may happen more than once."
	case f == nil:
		return ""
	}
	text := "If nothing fails, the effect is called once, before the transaction. If the outcome of a call is unknown, "
	if f.Interrupts {
		text += "the record " + fate(e.OnFailure) + ", and an operator decides"
	} else {
		text += "the call is repeated, with the same key and a greater token"
	}
	if f.Lock != nil {
		text += fmt.Sprintf(". Calls that lock the same value of %s never run at the same time", f.Lock.Name)
	}
	return text + "."
}

func faster(e *model.Event) string {
	t := e.Topic
	if e.Key.Offset || e.Key.SamePartition || t.RecordKey == nil || len(t.Kafka) > 1 {
		return ""
	}
	const what = "copies: same_partition would be faster: it keeps the keys in the ledger, not in a table"
	var needs []string
	if !t.Ordered {
		needs = append(needs, "all records with the same record key are in one partition, in order (assume: [ordered])")
	}
	if !holds(e.Key, t.RecordKey) && !t.CopiesKeepKey {
		needs = append(needs, "all duplicates have the same record key (assume: [copies_keep_record_key])")
	}
	if len(needs) == 0 {
		return "All its duplicates arrive in one partition, so " + what + "."
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
			of = "one of a type that no event has is skipped"
		}
		if len(t.Ignore) > 0 {
			all = append(all, fmt.Sprintf("one of type %s is skipped", or(t.Ignore)))
		}
		all = append(all, of)
	} else if !slices.ContainsFunc(t.Events, func(e *model.Event) bool { return !e.Tombstone }) {
		all = append(all, "one with a value "+fate(t.OnFailure))
	}
	none := "one without a value " + fate(t.OnFailure)
	if i := slices.IndexFunc(t.Events, func(e *model.Event) bool { return e.Tombstone }); i >= 0 {
		none = "one without a value is " + t.Events[i].Name
	} else if t.SkipTombstone {
		none = "one without a value is skipped"
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
