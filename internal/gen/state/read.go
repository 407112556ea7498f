package state

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// restore is the advice for a file that cannot be used.
const restore = "restore it from version control, then run idemgen generate"

// Read reads the state file; name is its path for messages. A file that differs from
// what Render writes for it in anything but line endings is an error: the tables it
// speaks of are in databases already, so nothing in it is guessed.
func Read(name string, data []byte) (*State, error) {
	root, problems := syntax.Parse(data)
	if line := syntax.Unmerged(data); line > 0 && problems.Errors() > 0 {
		return nil, fmt.Errorf("%s:%d: this looks like an unresolved merge: take this file and the migrations of the branch that was merged first, delete what the other one appended, then run idemgen generate: it appends what the merged spec still needs", name, line)
	}
	if problems.Errors() > 0 {
		var text strings.Builder
		if err := problems.Print(&text, name, data); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is damaged: %s\n%s", name, restore, strings.TrimSuffix(text.String(), "\n"))
	}
	if root == nil || root.Kind != syntax.MapNode || root.Get("version") == nil {
		return nil, fmt.Errorf("%s is damaged: it has no version; %s", name, restore)
	}
	switch v := root.Get("version").Text; {
	case newer(v):
		return nil, fmt.Errorf("%s has version %s, this idemgen knows %s: a newer idemgen wrote it; use that one", name, v, version)
	case v != version:
		return nil, fmt.Errorf("%s is damaged: version %q; %s", name, v, restore)
	}
	r := reader{}
	s := r.state(root)
	if r.err != nil {
		return nil, fmt.Errorf("%s:%w; %s", name, r.err, restore)
	}
	if line, same := firstDifference(data, s.Render()); !same {
		return nil, fmt.Errorf("%s:%d: idemgen would not write this line: was the file edited by hand? %s", name, line, restore)
	}
	return s, nil
}

// newer reports whether v is a later version of the format than ours.
func newer(v string) bool {
	have, err := strconv.Atoi(v)
	ours, _ := strconv.Atoi(version)
	return err == nil && have > ours
}

// firstDifference returns the first line of data that is not as in want.
func firstDifference(data, want []byte) (line int, same bool) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if bytes.Equal(data, want) {
		return 0, true
	}
	a, b := bytes.Split(data, []byte("\n")), bytes.Split(want, []byte("\n"))
	for line < len(a) && line < len(b) && bytes.Equal(a[line], b[line]) {
		line++
	}
	return min(line+1, len(a)), false
}

// reader turns nodes into a State. Of a wrong shape only the first error is kept: one is
// enough to send people to version control. Keys it does not know are left to the
// comparison with what Render writes.
type reader struct{ err error }

func (r *reader) fail(n *syntax.Node, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%d: want %s", n.Pos.Line, want)
	}
}

func (r *reader) state(root *syntax.Node) *State {
	s := &State{Source: r.text(root.Get("source")), Consumer: r.text(root.Get("consumer"))}
	s.Identity = r.hash(root.Get("identity"))
	s.Knows = r.hashes(root.Get("known_identities"))
	if len(s.Knows) == 0 {
		r.fail(root, "known_identities")
	}
	for _, topic := range r.pairs(root.Get("keys")) {
		for _, event := range r.pairs(topic.Value) {
			k := Key{
				Topic: topic.Key, Event: event.Key, Gone: r.text(event.Value.Get("gone")) != "",
				History: r.hash(event.Value.Get("history")),
				Space:   r.text(event.Value.Get("space")), Parts: r.texts(event.Value.Get("parts")),
				Copies: r.text(event.Value.Get("copies")), Window: r.duration(event.Value.Get("window")),
			}
			s.Keys = append(s.Keys, k)
		}
	}
	s.Dispatch = r.dispatch(root)
	for _, t := range r.pairs(root.Get("tables")) {
		s.Tables = append(s.Tables, Table{
			Name: t.Key, Columns: r.entries(t.Value.Get("columns")), PrimaryKey: r.text(t.Value.Get("primary_key")),
			Unique:      r.texts(t.Value.Get("unique")),
			ForeignKeys: r.texts(t.Value.Get("foreign_keys")),
			Place:       r.text(t.Value.Get("place")),
		})
	}
	for _, m := range r.entries(root.Get("migrations")) {
		s.Migrations = append(s.Migrations, Migration{m.Name, m.Def})
	}
	return s
}

func (r *reader) text(n *syntax.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != syntax.ScalarNode:
		r.fail(n, "a string")
	}
	return n.Text
}

// hash reads a hash; 0 if there is none.
func (r *reader) hash(n *syntax.Node) uint32 {
	if n == nil {
		return 0
	}
	return r.parse(n, r.text(n))
}

func (r *reader) hashes(n *syntax.Node) (all []uint32) {
	for _, text := range r.texts(n) {
		all = append(all, r.parse(n, text))
	}
	return all
}

func (r *reader) parse(n *syntax.Node, text string) uint32 {
	hash, err := strconv.ParseUint(text, 16, 32)
	if err != nil || hash == 0 {
		r.fail(n, "8 hex digits")
	}
	return uint32(hash)
}

// duration reads what model.DurationText writes; what else it takes is left to the
// comparison, too.
func (r *reader) duration(n *syntax.Node) time.Duration {
	text := r.text(n)
	if text == "" {
		return 0
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		r.fail(n, "a duration")
	}
	return d
}

func (r *reader) pairs(n *syntax.Node) []syntax.Pair {
	if n != nil && n.Kind != syntax.MapNode {
		r.fail(n, "a map")
	}
	if n == nil {
		return nil
	}
	return n.Pairs
}

func (r *reader) entries(n *syntax.Node) []Entry {
	var all []Entry
	for _, p := range r.pairs(n) {
		all = append(all, Entry{p.Key, r.text(p.Value)})
	}
	return all
}

func (r *reader) texts(n *syntax.Node) []string {
	if n != nil && n.Kind != syntax.ListNode {
		r.fail(n, "a list")
	}
	var all []string
	if n != nil {
		for _, item := range n.Items {
			all = append(all, r.text(item))
		}
	}
	return all
}
