package syntax

// Limits is the limits map; nil means the default of docs/spec.md.
type Limits struct {
	Key          Pos
	Pos          Pos
	BatchEvents  *Int
	BatchWait    *Duration
	BatchTimeout *Duration
	MaxPayload   *Size
	Effects      *Int
	Broken       bool
}

// ofBatchTimeout is what the other limits of time follow from.
const ofBatchTimeout = "write batch_timeout: 30s, from which it follows"

var limitKeys = keys[Limits]{
	{name: "batch_events", value: intValue(func(l *Limits) **Int { return &l.BatchEvents }, 1, 10_000)},
	{name: "batch_wait", value: durationValue(func(l *Limits) **Duration { return &l.BatchWait }, "1ms", "1m")},
	{name: "batch_timeout", value: durationValue(func(l *Limits) **Duration { return &l.BatchTimeout }, "1ms", "12h")},
	{name: "max_payload", value: sizeValue(func(l *Limits) **Size { return &l.MaxPayload }, "1KiB", "256MiB")},
	{name: "effect_concurrency", value: intValue(func(l *Limits) **Int { return &l.Effects }, 1, 1000)},
	{name: "batch_bytes", instead: "write batch_events: 4 MiB close a batch in any case"},
	{name: "event_timeout", instead: ofBatchTimeout},
	{name: "statement_timeout", instead: ofBatchTimeout},
	{name: "lock_timeout", instead: ofBatchTimeout},
	{name: "max_poll_interval", instead: ofBatchTimeout},
	{name: "max_depth", instead: "leave it out: a payload may nest 64 levels deep"},
}

func readLimits(w *walker, e entry) (*Limits, bool) {
	l := &Limits{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, limitKeys, l)
	return l, true
}
