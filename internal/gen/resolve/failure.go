package resolve

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveFailure reads on_failure of a topic, with what holds without each of its keys. What keep
// is depends on the window: see resolveKeep.
func resolveFailure(spec *syntax.FailurePolicy) model.FailurePolicy {
	p := model.FailurePolicy{Retries: 8, MaxBackoff: 30 * time.Second, GiveUp: "dead_letter", StopAfter: 20}
	if spec != nil && spec.Retries != nil {
		p.Retries = int(spec.Retries.Value)
	}
	if spec != nil && spec.MaxBackoff != nil {
		p.MaxBackoff = spec.MaxBackoff.Value
	}
	p.InitialBackoff = min(200*time.Millisecond, p.MaxBackoff)
	if spec != nil && spec.GiveUp != nil {
		p.GiveUp = spec.GiveUp.Value
	}
	if spec != nil && spec.StopAfter != nil {
		p.StopAfter = int(spec.StopAfter.Value)
	}
	if spec != nil && spec.Keep != nil {
		p.Keep = spec.Keep.Value
	}
	stops := p.GiveUp == "stop" // there are no dead letters
	p.Park = !stops && spec != nil && spec.Park != nil
	p.Drop = !stops && spec != nil && spec.DeadPayload != nil && spec.DeadPayload.Value == "drop"
	return p
}
