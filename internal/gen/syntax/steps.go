package syntax

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func readVerb(w *walker, e entry, s *Step) bool {
	t, ok := w.full(e)
	s.Verb = Text{Value: e.what, Key: e.key, Pos: e.key}
	if ok {
		s.Table = *t
	}
	return ok
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
		other, known := otherVerbs.find(p.Key)
		switch {
		case known:
			w.ds.Add(p.KeyPos, "E104", "unknown verb "+quote(p.Key)+" in step", other.instead)
			return s
		case keysOfVerb(p.Key) != nil && !slices.ContainsFunc(verbs, func(v Pair) bool { return v.Key == p.Key }):
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
		w.ds.Add(verbs[1].KeyPos, "E110", "a step must have exactly one verb, but here "+areHere(len(names))+": "+strings.Join(names, " and "), "write "+count(len(names))+" steps")
	}
	return s
}

// areHere says that there is not one of a thing: "is none", "are two".
func areHere(n int) string {
	if n == 0 {
		return "is none"
	}
	return "are " + count(n)
}

func count(n int) string {
	words := []string{"no", "one", "two", "three", "four"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

func keysOfVerb(verb string) keys[Step] {
	for _, t := range stepTables {
		if t.verb == verb {
			return t.keys
		}
	}
	return nil
}

// verbMeant is the verb that does the work of another language's; "" if none does.
func verbMeant(word string) string {
	for _, t := range stepTables {
		if slices.Contains(t.also, fold(word)) {
			return t.verb
		}
	}
	return ""
}

// reportNoVerb reports a step without a verb, or the word that stands where the verb should.
func reportNoVerb(w *walker, e entry) {
	var verbs []string // in the order in which people are told of them
	for _, t := range stepTables {
		verbs = append(verbs, t.verb)
	}
	for _, p := range e.node.Pairs {
		if _, known := allStepKeys.find(p.Key); known {
			continue
		}
		if isEnvironment(p.Key) {
			w.environment(p)
			return
		}
		hint := DidYouMean(p.Key, verbs)
		if verb := verbMeant(p.Key); verb != "" {
			hint = "write " + verb + ": <table>"
		} else {
			hint = cmp.Or(insteadOf(p.Key), hint, "verbs: "+strings.Join(verbs, ", "))
		}
		w.ds.Add(p.KeyPos, "E104", "unknown verb "+quote(p.Key)+" in step", hint)
		return
	}
	w.ds.Add(firstKey(e), "E110", "a step must have exactly one verb, but here "+areHere(0), "write one of "+strings.Join(verbs, ", ")+" with the name of a table")
}
