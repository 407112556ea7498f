package evolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// keys says of each further key of the spec that changed that it breaks nothing: what would break
// was found before.
func (c *comparison) keys() {
	for _, e := range edits(nil, c.old.Spec, c.now.Spec) {
		place := "/" + strings.Join(e.path, "/")
		if slices.ContainsFunc(c.told, func(t string) bool { return place == t || strings.HasPrefix(place, t+"/") }) {
			continue
		}
		v, why, do := c.external(e)
		if v == "" {
			if v, why = c.judge(e); v != "" {
				why += c.otherContent(e.path)
			}
		}
		if v != "" {
			c.add(v, e.text(), why, do)
		}
		if key, ok := strings.CutSuffix(place, "/idempotency_key/source"); ok { // the rest belongs to it
			c.tell(key + "/idempotency_key")
		}
	}
}

// edit is one key of the spec that is new, gone or changed.
type edit struct {
	path     []string
	old, now *syntax.Node // one may be nil
}

// edits compares two values key by key: those of now in their order, then those that are gone.
func edits(path []string, old, now *syntax.Node) (all []edit) {
	if ofEntries(path) { // each of them is new or gone
		old, now = cmp.Or(old, noEntries), cmp.Or(now, noEntries)
	}
	if old == nil || now == nil || old.Kind != syntax.MapNode || now.Kind != syntax.MapNode {
		if !equal(old, now) {
			all = append(all, edit{slices.Clone(path), old, now})
		}
		return all
	}
	for _, p := range now.Pairs {
		all = append(all, edits(append(path, p.Key), old.Get(p.Key), p.Value)...)
	}
	for _, p := range old.Pairs {
		if now.Get(p.Key) == nil {
			all = append(all, edits(append(path, p.Key), p.Value, nil)...)
		}
	}
	return all
}

// ofEntries reports whether a key is a map that a spec need not have, and each of whose entries is
// a change of its own.
func ofEntries(path []string) bool {
	switch len(path) {
	case 1:
		return path[0] == "tables" || path[0] == "types" || path[0] == "limits"
	case 3:
		return slices.Contains([]string{"fields", "payload", "record_key_format"}, path[2]) // of a topic or a type
	}
	return false
}

var noEntries = &syntax.Node{Kind: syntax.MapNode}

func equal(a, b *syntax.Node) bool {
	if a == nil || b == nil || a.Kind != b.Kind || a.Text != b.Text || len(a.Items) != len(b.Items) || len(a.Pairs) != len(b.Pairs) {
		return a == b
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, p := range a.Pairs {
		if !equal(p.Value, b.Get(p.Key)) {
			return false
		}
	}
	return true
}

func get(n *syntax.Node, path ...string) *syntax.Node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		n = n.Get(key)
	}
	return n
}

// text says what changed.
func (e edit) text() string {
	where := strings.Join(e.path, ".")
	switch {
	case e.old == nil:
		return where + " is new"
	case e.now == nil:
		return where + " is gone"
	case e.old.Kind == syntax.ScalarNode && e.now.Kind == syntax.ScalarNode && len(e.old.Text)+len(e.now.Text) < 80 && !strings.ContainsAny(e.old.Text+e.now.Text, "\n`"):
		return fmt.Sprintf("%s was `%s` and is `%s`", where, e.old.Text, e.now.Text)
	}
	return where + " changed"
}

// ofKey is what a change of a key means wherever it stands.
var ofKey = map[string]struct {
	verdict Verdict
	why     string
}{
	"description": {Compatible, "comments only; no migration is written for them"},
	"package":     {GoCallers, "code that imports the package must change; records, keys and rows stay the same"},
	"sensitive":   {Compatible, "what Go, logs and tests show changes; records, keys and rows stay the same"},
	"version":     {Compatible, "the language, not the data"},
	"examples":    {Compatible, "tests only"},
	"limits":      {Compatible, "what is read and stored stays the same"},
	"on_failure":  {Compatible, "it applies to failures from now on"},
	"skip":        {Compatible, "it applies to records from now on"},
	"ignore":      {Compatible, "it applies to records from now on"},
	"start_from":  {Compatible, "it only applies to partitions without a ledger"},
	"migrations":  {Compatible, "it says where files are, not what is in them"},
	"assume":      {Compatible, "everything that relied on it, or relies on it now, was checked again"},
	"write":       {Compatible, "it applies to events from now on; existing rows stay as they are. The previous version applies events by its own steps, beside this one or after a rollback"},
	"handle":      {GoCallers, "the methods of Handler change"},
	"window":      {Compatible, "keys are known for longer"},
	"compare":     {Compatible, "duplicates are recognized; content is compared only for keys stored under the new definition"},
	"source":      {Compatible, "keys are stored from the first record that this version reads; earlier records are identified by their offsets"},
	"record_key":  {Compatible, "records that were read before can still be read"},
	"event_type":  {Compatible, "records that were read before can still be read"},
	"type":        {Compatible, "records that were read before can still be read"},
	"enum":        {Compatible, "it still accepts every value that it accepted"},

	// What these say reached the state, and was compared there.
	"payload":           {Compatible, sameRead},
	"record_key_format": {Compatible, sameRead},
	"naming":            {Compatible, sameRead},
	"root":              {Compatible, sameRead},
	"encoding":          {Compatible, sameRead},
	"absent_marker":     {Compatible, sameRead},
	"tombstone":         {Compatible, sameRead},
	"idempotency_key":   {Compatible, sameKeys},
	"copies":            {Compatible, sameKeys},
}

const (
	sameRead = "records that were read before can still be read"
	sameKeys = "the keys of the events stay the same"
)

// judge says what an edit means if no state tells anything about it.
func (c *comparison) judge(e edit) (Verdict, string) {
	in := func(at int) string {
		if at < len(e.path) {
			return e.path[at]
		}
		return ""
	}
	last := e.path[len(e.path)-1]
	if named(e.path, len(e.path)-1) { // a field may be called description
		last = ""
	}
	if e.path[0] == "tables" && last != "description" {
		return "", "" // what changes the table was told, and the rest changes nothing
	}
	switch {
	case e.path[0] == "types" && len(e.path) == 2:
		return Compatible, "the parts that events read were compared"
	case e.path[0] == "topics" && len(e.path) == 2 && e.old == nil:
		return Compatible, "it is read from start_from; nothing else changes"
	case e.path[0] == "topics" && len(e.path) == 2:
		return Compatible, "it is no longer read; its ledger, keys and rows stay"
	case in(2) == "events" && len(e.path) == 4:
		return c.event(e)
	case in(2) == "events" && in(4) == "effect":
		return e.effect(in(5))
	case slices.Contains([]string{in(2), in(4)}, "fields") && len(e.path) >= 4 && last != "description" && last != "sensitive":
		return c.field(e)
	}
	for i := len(e.path) - 1; i >= 0; i-- { // the nearest key that says what it means
		if of, ok := ofKey[e.path[i]]; ok && !named(e.path, i) {
			return of.verdict, of.why
		}
	}
	return NotKnown, "idemgen cannot tell what this key means for records, keys and rows"
}

// named reports whether a part of a path is a name of the user's choice.
func named(path []string, i int) bool {
	return i > 0 && slices.Contains([]string{"types", "tables", "columns", "topics", "events", "fields"}, path[i-1])
}

func (c *comparison) event(e edit) (Verdict, string) {
	switch {
	case e.old == nil && c.follows(e):
		return GoCallers, "the event has a different name in Go, and the type that it had"
	case e.old == nil:
		return Compatible, "older versions treat its records as its skip says; roll out before producers send it"
	case e.now == nil:
		return Compatible, "its records belong to a different event, or are ignored or skipped, as the spec says"
	}
	return Compatible, "records that were read before can still be read, and their keys are known"
}

// effect says what a change of a key of an effect means; of "", of the effect as a whole.
func (e edit) effect(key string) (Verdict, string) {
	switch {
	case key == "" && e.now == nil:
		return GoCallers, "the methods of Handler change. Events that this version applies have no call, even after a rollback"
	case key == "":
		return GoCallers, "the methods of Handler change"
	case key == "if_interrupted":
		return Compatible, "it applies to calls from now on. Versions that run side by side each follow their own: stop the old one before the new one starts"
	case key == "lock":
		return Compatible, "it applies to calls from now on. Versions that run side by side have different locks, or none: stop the old one before the new one starts"
	case key == "result" && e.old == nil:
		return GoCallers, "the method returns a result"
	case key == "result" && e.now == nil:
		return GoCallers, "the method no longer returns a result. Recorded results are not read, and the rows of their events are written"
	case key == "result":
		return GoCallers, "the method returns a different type. Recorded results whose events are not yet in the ledger are read as the new type: deploy when no calls are in progress"
	}
	return Compatible, "it applies to calls from now on"
}

// follows reports whether a new event has the type texts of one that is gone.
func (c *comparison) follows(e edit) bool {
	is := e.now.Get("type")
	if before := get(c.old.Spec, e.path[0], e.path[1], "events"); before != nil {
		for _, p := range before.Pairs {
			gone := get(c.now.Spec, e.path[0], e.path[1], "events", p.Key) == nil
			if gone && equal(p.Value.Get("type"), is) {
				return true
			}
		}
	}
	return false
}

func (c *comparison) field(e edit) (Verdict, string) {
	switch {
	case e.old == nil:
		return Compatible, "records without it can still be read"
	case e.now == nil:
		return Compatible, "the member is ignored from now on"
	}
	return Compatible, "it still accepts every value that it accepted"
}
