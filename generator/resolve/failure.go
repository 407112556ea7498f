package resolve

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// defaultFailure is on_failure of docs/spec.md, "Limits and failures". What keep is depends on
// the window: see resolveKeep.
var defaultFailure = model.FailurePolicy{Retries: 8, InitialBackoff: 200 * time.Millisecond, MaxBackoff: 30 * time.Second, GiveUp: "dead_letter", StopAfter: 20}

// resolveFailure overrides a policy key by key and reports backoffs that contradict
// each other (E704).
func resolveFailure(report *schema.Diagnostics, base model.FailurePolicy, spec *schema.FailurePolicy) model.FailurePolicy {
	if spec == nil {
		return base
	}
	var at *schema.Pos
	if spec.Retries != nil {
		base.Retries = int(spec.Retries.Value)
	}
	if spec.InitialBackoff != nil {
		base.InitialBackoff, at = spec.InitialBackoff.Value, &spec.InitialBackoff.Pos
	}
	if spec.MaxBackoff != nil {
		base.MaxBackoff, at = spec.MaxBackoff.Value, &spec.MaxBackoff.Pos
	}
	if spec.GiveUp != nil {
		base.GiveUp = spec.GiveUp.Value
	}
	if spec.StopAfter != nil {
		base.StopAfter = int(spec.StopAfter.Value)
	}
	if spec.Keep != nil {
		base.Keep = spec.Keep.Value
	}
	if spec.Park != nil {
		base.Park = true
	}
	if spec.DeadPayload != nil {
		base.Drop = spec.DeadPayload.Value == "drop"
	}
	if base.GiveUp == "stop" { // there are no dead letters
		base.Park, base.Drop = false, false
	}
	if at != nil && !spec.Broken && base.MaxBackoff < base.InitialBackoff {
		hint := "raise max_backoff or lower initial_backoff"
		if spec.InitialBackoff == nil || spec.MaxBackoff == nil {
			hint = "one of the two comes from an outer on_failure or is the default: set both here"
		}
		report.Add(*at, "E704", fmt.Sprintf("max_backoff %s is shorter than initial_backoff %s", model.DurationText(base.MaxBackoff), model.DurationText(base.InitialBackoff)), hint)
	}
	return base
}

// resolveEventFailure is resolveFailure for an event, which also must have something
// to retry (E705).
func resolveEventFailure(report *schema.Diagnostics, t *draft.Topic, spec *schema.Event) model.FailurePolicy {
	p := spec.OnFailure
	if p != nil && !spec.Broken && !spec.HasCode() {
		for _, k := range []struct {
			set  bool
			key  func() schema.Pos
			name string
		}{
			{p.Retries != nil, func() schema.Pos { return p.Retries.Key }, "retries"},
			{p.InitialBackoff != nil, func() schema.Pos { return p.InitialBackoff.Key }, "initial_backoff"},
			{p.MaxBackoff != nil, func() schema.Pos { return p.MaxBackoff.Key }, "max_backoff"},
		} {
			if k.set {
				report.Add(k.key(), "E705", fmt.Sprintf("event %s has no handle and no effect, so %q would count nothing", wording.Quote(spec.Name.Value), k.name),
					"drop it: outages of the database are retried without counting; or set handle: true")
			}
		}
	}
	return resolveFailure(report, t.Model.OnFailure, p)
}
