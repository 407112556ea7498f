// Package evolution says what a change of a spec means for records, keys and rows that are there
// already: one line for each change, with a verdict, why, and what to do.
//
// What breaks is found by comparing two specs, and the states beside them. What is left of the
// spec's changes, key by key, breaks nothing. It does no I/O. It must not import any package of
// this module but model, state and syntax.
package evolution

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/state"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Verdict is what a change means.
type Verdict string

// The verdicts, from the mildest.
const (
	Compatible  Verdict = "compatible"
	GoCallers   Verdict = "Go callers change"
	Migration   Verdict = "migration appended"
	ByHand      Verdict = "migration by hand"
	DeadLetters Verdict = "records still in the topic become dead letters"
	LosesValues Verdict = "records still in the topic lose values"
	Results     Verdict = "results of effects become dead letters"
	NotKnown    Verdict = "not known"
	BreaksDedup Verdict = "breaks dedup"
	Reprocesses Verdict = "reprocesses every topic"
)

// Breaks reports whether events are lost or applied twice unless somebody acts, or may be.
func (v Verdict) Breaks() bool {
	return v == DeadLetters || v == LosesValues || v == Results || v == NotKnown || v == BreaksDedup || v == Reprocesses
}

// Change is one change of a spec. Why and Do are clauses; Do is "" if nothing has to be done.
type Change struct {
	Verdict Verdict `json:"verdict"`
	What    string  `json:"change"`
	Why     string  `json:"why,omitempty"`
	Do      string  `json:"do,omitempty"`
}

// Version is a spec, as it is written and as it was resolved, and the state beside it.
type Version struct {
	Spec    *syntax.Node
	Service *model.Service
	State   *state.State
}

// Compare returns the changes from old to now, those that break first.
func Compare(old, now Version) []Change {
	c := comparison{old: old, now: now}
	c.identities()
	c.records()
	c.results()
	c.topics()
	c.tables()
	c.keys()
	rank := []Verdict{Reprocesses, BreaksDedup, DeadLetters, LosesValues, Results, NotKnown, ByHand, Migration, GoCallers, Compatible}
	slices.SortStableFunc(c.found, func(a, b Change) int { return slices.Index(rank, a.Verdict) - slices.Index(rank, b.Verdict) })
	return c.found
}

// comparison collects changes. Told are places of the spec: their changes were said.
type comparison struct {
	old, now Version
	found    []Change
	told     []string
}

func (c *comparison) add(v Verdict, what, why, do string) {
	if change := (Change{v, what, why, do}); !slices.Contains(c.found, change) {
		c.found = append(c.found, change)
	}
}

func (c *comparison) tell(places ...string) { c.told = append(c.told, places...) }

// identities are the changes after which copies are not known as such.
func (c *comparison) identities() {
	if c.old.State.Consumer != c.now.State.Consumer {
		c.tell("/consumer")
		c.add(Reprocesses, fmt.Sprintf("the consumer was %q and is %q", c.old.State.Consumer, c.now.State.Consumer),
			"under another name it has an empty ledger, and none of the keys is known: every topic is read from start_from and applied again",
			"keep the name "+c.old.State.Consumer)
		return // all keys differ for the same reason
	}
	told := map[state.Identity][]string{} // events that share what is said
	var all []state.Identity
	for _, id := range state.Identities(c.old.State, c.now.Service) {
		topic, event := "/topics/"+id.Topic, "/topics/"+id.Topic+"/events/"+id.Event
		c.tell(topic+"/idempotency_key", event+"/idempotency_key")
		if id.Renamed {
			c.renamed(id)
		}
		if id.Took {
			c.took(id.Topic, id.Event)
			c.took(id.WasTopic, id.WasEvent)
		}
		same := id
		same.Event = ""
		if !id.Took && (!id.Renamed || id.WasTopic != id.Topic) { // else it is about that name
			same.WasEvent = ""
		}
		if told[same] == nil {
			all = append(all, same)
		}
		told[same] = append(told[same], strconv.Quote(id.Event))
	}
	for _, id := range all {
		of := "event "
		if len(told[id]) > 1 {
			of = "events "
		}
		c.add(BreaksDedup, "the identity of "+of+strings.Join(told[id], ", ")+" changed: "+id.Change, id.Effect, id.Remedy)
	}
}

// took marks the types of an event as told; all of it, if only one of the versions has it.
func (c *comparison) took(topic, event string) {
	place := "/topics/" + topic + "/events/" + event
	if get(c.old.Spec, "topics", topic, "events", event) != nil && get(c.now.Spec, "topics", topic, "events", event) != nil {
		place += "/type"
	}
	c.tell(place)
}

// renamed marks the old and the new place of an event or topic with another name as told.
func (c *comparison) renamed(id state.Identity) {
	if id.WasTopic == id.Topic {
		events := "/topics/" + id.Topic + "/events/"
		c.tell(events+id.Event, events+id.WasEvent)
		return
	}
	c.tell("/topics/"+id.Topic, "/topics/"+id.WasTopic)
}

// records are the changes after which records of the older form cannot be read.
func (c *comparison) records() {
	for _, u := range state.Unreadable(c.old.Service, c.now.Service) {
		verdict, of, effect := DeadLetters, "", "records from before this change become dead letters"
		switch {
		case u.Event != "":
			of = fmt.Sprintf("event %q of %s: ", u.Event, u.Topic)
		case u.Topic != "":
			of = fmt.Sprintf("topic %s: ", u.Topic)
		}
		switch {
		case u.Halts:
			effect = "records from before this change halt their partition"
		case u.Loses:
			verdict, effect = LosesValues, "records from before this change are read without a value that they have, or with another one, and nothing tells"
		}
		c.add(verdict, of+u.Change, effect, u.Remedy)
		topic := "/topics/" + u.Topic
		event := topic + "/events/" + u.Event
		switch u.What {
		case state.Limit:
			c.tell("/limits/" + strings.Fields(u.Change)[0])
		case state.EventType:
			c.tell(topic + "/event_type")
		case state.Payload:
			key := strings.Fields(u.Change)[0]
			key = strings.TrimPrefix(key, "payload.")
			c.tell(topic + "/payload/" + key)
			if c.only(key, "topics", u.Topic, "payload") {
				c.tell(topic + "/payload")
			}
		case state.Encoding:
			c.tell(topic + "/payload/encoding")
			if c.only("encoding", "topics", u.Topic, "payload") {
				c.tell(topic + "/payload")
			}
		case state.Type:
			c.tell(event, event+"/type", event+"/tombstone")
		case state.KeySource:
			c.tell(topic+"/idempotency_key/source", event+"/idempotency_key/source")
		default:
			if u.Moved { // what moved it is told with it
				c.tell(topic+"/payload/naming", "/types/"+u.Type+"/naming", "/payload/naming", "/naming")
				if c.only("naming", "topics", u.Topic, "payload") {
					c.tell(topic + "/payload")
				}
			}
			c.tell("/types/"+u.Type+"/fields/"+u.Field, event+"/fields/"+u.Field, topic+"/fields/"+u.Field, topic+"/record_key", event+"/tombstone")
			if u.Field == "" {
				c.tell("/types/" + u.Type + "/enum")
			}
		}
	}
}

// results are the changes after which one version cannot read what a call returned to another.
func (c *comparison) results() {
	tell := func(u state.Unread, what, effect, do string) {
		c.add(Results, fmt.Sprintf("%s of event %q of %s: %s", what, u.Event, u.Topic, u.Change), effect, do)
		c.tell("/types/" + u.Type + "/fields/" + u.Field)
		if u.Field == "" {
			c.tell("/types/" + u.Type + "/enum")
		}
	}
	for _, u := range state.UnreadableResults(c.old.Service, c.now.Service) {
		effect := "a result that was recorded, and whose event is not passed yet, cannot be read: the event becomes a dead letter, and its call is not made again"
		if u.Loses {
			effect = "a result that was recorded, and whose event is not passed yet, is read without a value that it has"
		}
		do := "deploy this when no event waits for its rows"
		if u.Field != "" {
			do = "declare the field optional, or " + do
		}
		tell(u, "the result", effect, do)
	}
	for _, u := range state.UnreadableResults(c.now.Service, c.old.Service) {
		if !u.Loses {
			tell(u, "for the version before, the result", "it cannot read what a call of this version returned: the event becomes a dead letter, and its call is not made again",
				"end the version before, before this one starts")
		}
	}
}

// only reports whether a map that one of the versions has, and the other has not, holds one key.
func (c *comparison) only(key string, path ...string) bool {
	old, now := get(c.old.Spec, path...), get(c.now.Spec, path...)
	if now == nil {
		old, now = now, old
	}
	return old == nil && now != nil && len(now.Pairs) == 1 && now.Pairs[0].Key == key
}

// tables are the changes of the tables: what a migration does, and what is done by hand.
func (c *comparison) tables() {
	for _, t := range state.TableChanges(c.old.State, c.now.Service) {
		if !t.Written() {
			c.add(ByHand, t.Text, "idemgen writes no migration for it (E607)",
				cmp.Or(t.Advice, "make it")+" in a migration of your own that has the line \"-- idemgen:by-hand "+t.Subject()+"\"")
			continue
		}
		c.add(Migration, t.Text, "older versions go on beside it", "")
	}
}
