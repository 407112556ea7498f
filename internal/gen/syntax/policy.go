package syntax

import (
	"fmt"
	"slices"
)

// FailurePolicy is one on_failure map.
type FailurePolicy struct {
	Key         Pos
	Pos         Pos
	Retries     *Int
	MaxBackoff  *Duration
	GiveUp      *Text // dead_letter or stop
	StopAfter   *Int
	Keep        *Duration
	Park        *Text // record_key
	DeadPayload *Text // keep or drop
	Broken      bool
}

var failureKeys = keys[FailurePolicy]{
	{name: "retries", value: intValue(func(f *FailurePolicy) **Int { return &f.Retries }, 0, 1_000_000)},
	{name: "initial_backoff", instead: "write max_backoff: the first pause is 200ms, or max_backoff if that is shorter"},
	{name: "max_backoff", value: durationValue(func(f *FailurePolicy) **Duration { return &f.MaxBackoff }, "1ms", "1d")},
	{name: "give_up", value: wordValue(func(f *FailurePolicy) **Text { return &f.GiveUp }, "dead_letter", "stop")},
	{name: "stop_after", value: intValue(func(f *FailurePolicy) **Int { return &f.StopAfter }, 1, 1_000_000)},
	{name: "keep", value: durationValue(func(f *FailurePolicy) **Duration { return &f.Keep }, "1s", "3650d")},
	{name: "park", value: wordValue(func(f *FailurePolicy) **Text { return &f.Park }, "record_key")},
	{name: "dead_letter_topic", instead: "the topic of dead letters is a row of idem_dead_letter_topic (docs/outbox.md)"},
	{name: "dead_letter_payload", value: wordValue(func(f *FailurePolicy) **Text { return &f.DeadPayload }, "keep", "drop")},
}

func readFailurePolicy(w *walker, e entry) (*FailurePolicy, bool) {
	f := &FailurePolicy{Key: e.key, Pos: e.node.Pos}
	f.Broken = !walkMap(w, e, failureKeys, f)
	if f.GiveUp != nil && f.GiveUp.Value == "stop" {
		for _, p := range e.node.Pairs {
			if slices.Contains([]string{"stop_after", "keep", "park", "dead_letter_payload"}, p.Key) {
				f.Broken = true
				w.ds.Add(p.KeyPos, "E707", fmt.Sprintf("give_up: stop never writes dead letters, so %q means nothing here", p.Key), "leave one of the two out")
			}
		}
	}
	return f, true
}
