// Package evolution says what a change of a spec means for records, keys and rows that are there
// already: one line for each change, with a verdict, why, and what to do.
//
// What breaks is found by comparing two specs, and the states beside them. What is left of the
// spec's changes, key by key, breaks nothing. It does no I/O. It must not import any package of
// this module but definition, model, state and syntax.
package evolution

import (
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
	GoCallers   Verdict = "Go code must change"
	Migration   Verdict = "migration appended"
	ByHand      Verdict = "migration by hand"
	DeadLetters Verdict = "records still in the topic become dead letters"
	LosesValues Verdict = "records still in the topic lose values"
	Uncalled    Verdict = "events are applied without a call"
	Results     Verdict = "results of effects become dead letters"
	NotKnown    Verdict = "not known"
	BreaksDedup Verdict = "breaks dedup"
	Reprocesses Verdict = "reprocesses every topic"
)

// Breaks reports whether events are lost or applied twice unless somebody acts, or may be.
func (v Verdict) Breaks() bool {
	return v == DeadLetters || v == LosesValues || v == Uncalled || v == Results || v == NotKnown || v == BreaksDedup || v == Reprocesses
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
	// ByHand are the tables and columns that migrations of the team's own change, which the version
	// before does not have, and the names of these files.
	ByHand map[string]string
}

// Compare returns the changes from old to now, those that break first.
func Compare(old, now Version) []Change {
	c := comparison{old: old, now: now}
	c.identities()
	c.records()
	c.results()
	c.calls()
	c.topics()
	c.tables()
	c.keys()
	rank := []Verdict{Reprocesses, BreaksDedup, DeadLetters, LosesValues, Uncalled, Results, NotKnown, ByHand, Migration, GoCallers, Compatible}
	slices.SortStableFunc(c.found, func(a, b Change) int { return slices.Index(rank, a.Verdict) - slices.Index(rank, b.Verdict) })
	return c.found
}

// comparison collects changes. Told are places of the spec: their changes were said. Contents are
// events of now: that their content has another definition was said.
type comparison struct {
	old, now Version
	found    []Change
	told     []string
	contents []*model.Event
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
			"under a different name it has an empty ledger, and none of the keys is known: every topic is read from start_from and applied again",
			"keep the name "+c.old.State.Consumer)
		return // all keys differ for the same reason
	}
	told := map[state.Identity][]string{} // events that share what is said
	var all []state.Identity
	for _, id := range state.Identities(c.old.State, c.now.Service) {
		c.tellKey(id, "topics", id.Topic, "idempotency_key")
		c.tellKey(id, "topics", id.Topic, "events", id.Event, "idempotency_key")
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
		of += strings.Join(told[id], ", ")
		what := "the identity of " + of + " changed: " + id.Change
		if id.Shorter {
			what = "the window of " + of + " is shorter: " + id.Change
		}
		c.add(BreaksDedup, what, id.Effect, id.Remedy)
	}
}

// tellKey marks what an identity says of a key as told. Other parts of the key may have changed,
// too, unless one of the versions does not have the key, or stores none.
func (c *comparison) tellKey(id state.Identity, path ...string) {
	place := "/" + strings.Join(path, "/")
	switch {
	case id.Shorter:
		c.tell(place + "/window")
	case id.Offset, id.Took, get(c.old.Spec, path...) == nil, get(c.now.Spec, path...) == nil:
		c.tell(place)
	default:
		c.tell(place+"/source", place+"/copies")
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
