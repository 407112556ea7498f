package schema

// Lock is lock of an event: what no two calls work on at the same time.
type Lock struct {
	Key    Pos
	Pos    Pos
	Name   *Text
	By     *Texts // fields
	Lease  *Duration
	Store  *Text // postgres or redis
	Broken bool
}

var lockKeys = keys[Lock]{
	{name: "name", required: true, example: "what is locked, in the words of all who lock it: name: orders", value: nameValue(lockNames, func(l *Lock) **Text { return &l.Name })},
	{name: "by", required: true, example: "the field that tells which one: by: order_id", value: put(shape{scalar: true, items: &scalarShape}, func(l *Lock) **Texts { return &l.By }, oneOrMore)},
	{name: "lease", value: durationValue(func(l *Lock) **Duration { return &l.Lease }, "10s", "1h")},
	{name: "store", value: wordValue(func(l *Lock) **Text { return &l.Store }, "postgres", "redis")},
	{name: "term", instead: "how long a lock lasts is lease, of the effect if the event has one"},
	{name: "ttl", instead: "how long a lock lasts is lease, of the effect if the event has one"},
	{name: "timeout", instead: "events wait for their lock until it is free; how long a call may take is timeout of the effect, or event_timeout of limits"},
}

func readLock(w *walker, e entry) (*Lock, bool) {
	l := &Lock{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, lockKeys, l)
	return l, true
}
