package schema

import (
	"slices"
	"strconv"
	"strings"
)

// stepShapes are the keys of all verbs together.
func stepShapes() []keyShape {
	steps := shape{items: &shape{keys: branchShapes()}}
	return append(branchShapes(), keyShape{name: "then", shape: steps}, keyShape{name: "else", shape: steps})
}

// branchShapes are the keys of steps that stand under another one.
func branchShapes() []keyShape {
	var out []keyShape
	for _, verb := range verbNames() {
		for _, s := range keysOfVerb(verb).shapes() {
			if !isBranch(s.name) && !slices.ContainsFunc(out, func(o keyShape) bool { return o.name == s.name }) {
				out = append(out, s)
			}
		}
	}
	return out
}

func isBranch(key string) bool { return key == "then" || key == "else" }

func readVerb(w *walker, e entry, s *Step) bool {
	t, ok := w.full(e)
	s.Verb = Text{Value: e.what, Key: e.key, Pos: e.key}
	if ok {
		s.Table = *t
	}
	return ok
}

// readBelow is readStep, which needs the tables of verbs that name it.
var readBelow func(w *walker, n *Node) *Step

func init() { readBelow = readStep }

// branchValue are the steps under then or else. They have neither of their own.
func branchValue(at func(*Step) **Branch) value[Step] {
	return value[Step]{read: func(w *walker, e entry, s *Step) bool {
		if !w.isList(e) || !w.some(e) {
			return false
		}
		b := &Branch{Key: e.key}
		for _, item := range e.node.Items {
			below := readBelow(w, item)
			for _, branch := range []*Branch{below.Then, below.Else} {
				if branch != nil {
					w.ds.Add(branch.Key, "E515", "a step under "+e.what+" has no then and no else of its own", "write its steps beside it, each with a condition of its own")
					below.Broken = true
				}
			}
			b.Steps = append(b.Steps, below)
		}
		*at(s) = b
		return true
	}}
}

// readStep reads one entry of write: the verb decides which keys it may have.
func readStep(w *walker, n *Node) *Step {
	s := &Step{Pos: n.Pos, Broken: true}
	e := entry{what: "step", node: n}
	if n.Kind != MapNode {
		w.wrongKind(entry{what: "a step", node: n}, "a map with a verb")
		return s
	}
	var verbs []Pair
	for _, p := range n.Pairs {
		s.Own.given = append(s.Own.given, p.Key)
		if keysOfVerb(p.Key) != nil && !slices.ContainsFunc(verbs, func(v Pair) bool { return v.Key == p.Key }) {
			verbs = append(verbs, p)
		}
	}
	switch len(verbs) {
	case 0:
		reportNoVerb(w, e)
	case 1:
		e.what = verbs[0].Key + " step"
		ks := keysOfVerb(verbs[0].Key)
		for _, name := range ks.built() {
			if misspelt(e, ks, name) {
				s.Own.given = append(s.Own.given, name)
			}
		}
		s.Broken = !walkMap(w, e, ks, s)
	default:
		var names []string
		for _, v := range verbs {
			names = append(names, v.Key)
		}
		w.ds.Add(verbs[1].KeyPos, "E110", "a step has exactly one verb, here are "+count(len(names))+": "+strings.Join(names, " and "), "make it "+count(len(names))+" steps")
	}
	return s
}

func count(n int) string {
	words := []string{"no", "one", "two", "three", "four"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func keysOfVerb(verb string) keys[Step] {
	if verb == Emit {
		return emitKeys
	}
	for _, t := range stepTables {
		if t.verb == verb {
			return t.keys
		}
	}
	return nil
}

// reportNoVerb reports a step without a verb, or the word that stands where the verb should.
func reportNoVerb(w *walker, e entry) {
	verbs := strings.Join(verbNames(), ", ")
	for _, p := range e.node.Pairs {
		if _, known := allStepKeys.find(p.Key); known {
			continue
		}
		if isEnvironment(p.Key) {
			w.environment(p)
			return
		}
		hint := DidYouMean(p.Key, verbNames())
		if verb := verbsLookedFor[fold(p.Key)]; verb != "" {
			hint = "write " + verb + ": <" + verbNamesWhat(verb) + ">"
		} else if hint == "" {
			hint = "verbs: " + verbs
		}
		w.ds.Add(p.KeyPos, "E104", "unknown verb "+quote(p.Key)+" in step", hint)
		return
	}
	w.ds.Add(firstKey(e), "E110", "a step has exactly one verb, here is none", "write one of "+verbs+" with the name of a table, or of an outbox event behind emit")
}

// verbNamesWhat is what stands behind a verb.
func verbNamesWhat(verb string) string {
	if verb == Emit {
		return "outbox event"
	}
	return "table"
}
