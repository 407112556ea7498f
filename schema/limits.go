package schema

// Limits is the limits map; nil means the default of docs/spec.md.
type Limits struct {
	Key              Pos
	Pos              Pos
	BatchEvents      *Int
	BatchBytes       *Size
	BatchWait        *Duration
	BatchTimeout     *Duration
	EventTimeout     *Duration
	StatementTimeout *Duration
	LockTimeout      *Duration
	MaxPollInterval  *Duration
	MaxPayload       *Size
	MaxDepth         *Int
	Effects          *Int
	Broken           bool
}

var limitKeys = keys[Limits]{
	{name: "batch_events", value: intValue(func(l *Limits) **Int { return &l.BatchEvents }, 1, 10_000)},
	{name: "batch_bytes", value: sizeValue(func(l *Limits) **Size { return &l.BatchBytes }, "1KiB", "256MiB")},
	{name: "batch_wait", value: durationValue(func(l *Limits) **Duration { return &l.BatchWait }, "1ms", "1m")},
	{name: "batch_timeout", value: durationValue(func(l *Limits) **Duration { return &l.BatchTimeout }, "1ms", "1d")},
	{name: "event_timeout", value: durationValue(func(l *Limits) **Duration { return &l.EventTimeout }, "1ms", "1d")},
	{name: "statement_timeout", value: durationValue(func(l *Limits) **Duration { return &l.StatementTimeout }, "1ms", "1d")},
	{name: "lock_timeout", value: durationValue(func(l *Limits) **Duration { return &l.LockTimeout }, "1ms", "1d")},
	{name: "max_poll_interval", value: durationValue(func(l *Limits) **Duration { return &l.MaxPollInterval }, "1s", "1d")},
	{name: "max_payload", value: sizeValue(func(l *Limits) **Size { return &l.MaxPayload }, "1KiB", "256MiB")},
	{name: "max_depth", value: intValue(func(l *Limits) **Int { return &l.MaxDepth }, 1, 1000)},
	{name: "effect_concurrency", value: intValue(func(l *Limits) **Int { return &l.Effects }, 1, 1000)},
}

func readLimits(w *walker, e entry) (*Limits, bool) {
	l := &Limits{Key: e.key, Pos: e.node.Pos}
	l.Broken = !walkMap(w, e, limitKeys, l)
	return l, true
}
