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

var effectKeys = keys[Effect]{
	{name: "if_interrupted", value: wordValue(func(v *Effect) **Text { return &v.IfInterrupted }, "retry", "dead_letter")},
	{name: "timeout", value: durationValue(func(v *Effect) **Duration { return &v.Timeout }, "1ms", "1d")},
	{name: "lease", instead: "leave it out: a lease lasts 30s after its holder was heard of"},
	{name: "result", value: textValue(func(v *Effect) **Text { return &v.Result })},
	{name: "keep_result", instead: "leave it out: a result is kept for the window of the key"},
	{name: "store", instead: "the store is of main.go: idem.WithLeases(redislease.New(client))"},
	{name: "if_store_down", instead: "leave it out: events wait while the store of leases does not answer"},
	{name: "concurrency", instead: ofConcurrency}, {name: "max_concurrent", instead: ofConcurrency}, {name: "max_concurrency", instead: ofConcurrency},
	{name: "rate_limit", instead: "let the Go method wait for a limiter of yours; how many calls run in a process is limits: {effect_concurrency: 8}"},
	{name: "retries", instead: "write on_failure: {retries: 8}, on the topic"},
	{name: "key", instead: "leave it out: a call has the key of its event, as idem.DeliveryFrom(ctx) says"},
	{name: "lock", value: put(shape{entries: &shape{scalar: true, items: &scalarShape}}, func(v *Effect) **Lock { return &v.Lock }, readLock)},
}

const ofConcurrency = "write limits: {effect_concurrency: 8}, of each process"

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
		w.ds.Add(e.node.Pos, "E110", "a call holds one lock, here are "+count(locks), "two locks could wait for each other: lock what both have in common")
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
		w.ds.Add(e.key, "E801", "effect does not say what to do when a call was cut off half way",
			"if_interrupted: retry repeats it (right if the provider deduplicates calls by the event's key); dead_letter leaves it to an operator")
	}
	return v, true
}
