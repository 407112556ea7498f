package syntax

// Effect is effect of an event: a Go method outside of the transaction, under a lease.
type Effect struct {
	Key           Pos
	Pos           Pos
	Timeout       *Duration
	IfInterrupted *Text // retry or dead_letter
	Result        *Text // name of a type with fields
	Lock          *Lock
	Broken        bool
}

// Lock is what no two calls work on at the same time.
type Lock struct {
	Name Text   // Pos is the key
	By   *Texts // fields that tell which one
	Key  Pos
}

// readLock reads the one entry of lock: a name, and the fields that tell which one is locked.
func readLock(w *walker, e entry) (*Lock, bool) {
	l := &Lock{Key: e.key}
	locks := 0
	ok := w.named(e, lockNames, func(name Text, valid bool, n *Node) {
		by, fine := oneOrMore(w, entry{"lock " + quote(name.Value), name.Pos, n})
		locks++
		l.Name, l.By = name, by
		valid = valid && fine
		if !valid {
			l.By = nil
		}
	})
	if ok && locks != 1 {
		w.ds.Add(e.node.Pos, "E110", "a call must have exactly one lock, but here "+areHere(locks), "two locks could deadlock: lock what both have in common")
		return nil, false
	}
	return l, ok && l.By != nil
}

// readEffect reads effect, and asks for what nobody can decide but the team: E801.
func readEffect(w *walker, e entry) (*Effect, bool) {
	v := &Effect{Key: e.key, Pos: e.node.Pos}
	v.Broken = !walkMap(w, e, effectKeys, v)
	if v.IfInterrupted == nil && !v.Broken {
		v.Broken = true
		w.ds.Add(e.key, "E801", `effect lacks the key "if_interrupted", the policy for a call whose outcome is unknown`,
			"if_interrupted: retry repeats it (right if the provider deduplicates calls by the event's key); dead_letter leaves it to an operator")
	}
	return v, true
}
