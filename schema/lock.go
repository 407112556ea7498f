package schema

// Lock is lock of an event: what no two calls work on at the same time.
type Lock struct {
	Key    Pos
	Pos    Pos
	Name   *Text
	By     *Texts // fields
	Broken bool
}

var lockKeys = keys[Lock]{
	{name: "name", required: true, example: "what is locked, in the words of all who lock it: name: orders", value: nameValue(lockNames, func(l *Lock) **Text { return &l.Name })},
	{name: "by", required: true, example: "the field that tells which one: by: order_id", value: put(shape{scalar: true, items: &scalarShape}, func(l *Lock) **Texts { return &l.By }, readTypeTexts)},
	{name: "term", instead: "a lock lasts as long as lease of the effect says"},
	{name: "ttl", instead: "a lock lasts as long as lease of the effect says"},
	{name: "timeout", instead: "events wait for their lock until it is free; how long a call may take is timeout of the effect"},
	{name: "store", instead: "locks are where the effect has its leases: effect: {store: redis}"},
}

func readLock(w *walker, e entry) (*Lock, bool) {
	l := &Lock{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, lockKeys, l)
	return l, true
}
