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

func readFailurePolicy(w *walker, e entry) (*FailurePolicy, bool) {
	f := &FailurePolicy{Key: e.key, Pos: e.node.Pos}
	f.Broken = !walkMap(w, e, failureKeys, f)
	if f.GiveUp != nil && f.GiveUp.Value == "stop" {
		for _, p := range e.node.Pairs {
			if slices.Contains([]string{"stop_after", "keep", "park", "dead_letter_payload"}, p.Key) {
				f.Broken = true
				w.ds.Add(p.KeyPos, "E707", fmt.Sprintf("give_up: stop never writes dead letters, so %q has no effect", p.Key), "leave out one of the two")
			}
		}
	}
	return f, true
}
