package resolve

import (
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// resolveLimits reads limits, with what holds without each of its keys. Those of time follow from
// batch_timeout: a call, a statement and a wait for a lock end within it, and Kafka waits longer.
func resolveLimits(spec *syntax.Limits) model.Limits {
	out := model.Limits{
		BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 30 * time.Second,
		MaxPayload: 1 << 20, Effects: 8,
	}
	if spec != nil && spec.BatchEvents != nil {
		out.BatchEvents = int(spec.BatchEvents.Value)
	}
	if spec != nil && spec.BatchWait != nil {
		out.BatchWait = spec.BatchWait.Value
	}
	if spec != nil && spec.BatchTimeout != nil {
		out.BatchTimeout = spec.BatchTimeout.Value
	}
	if spec != nil && spec.MaxPayload != nil {
		out.MaxPayload = spec.MaxPayload.Value
	}
	if spec != nil && spec.Effects != nil {
		out.Effects = int(spec.Effects.Value)
	}
	out.EventTimeout = min(5*time.Second, out.BatchTimeout)
	out.StatementTimeout = min(20*time.Second, out.BatchTimeout)
	out.LockTimeout = min(5*time.Second, out.BatchTimeout)
	out.MaxPollInterval = max(5*time.Minute, 2*out.BatchTimeout)
	return out
}
