package resolve

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/schema"
)

// defaultLimits are those of docs/spec.md, "Limits and failures".
var defaultLimits = model.Limits{
	BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 30 * time.Second,
	EventTimeout: 5 * time.Second, StatementTimeout: 20 * time.Second, LockTimeout: 5 * time.Second,
	MaxPollInterval: 5 * time.Minute, MaxPayload: 1 << 20, MaxDepth: 64, Effects: 8,
}

// drain is what the client needs, beside the transaction, before Kafka's deadline.
const drain = 10 * time.Second

// budget is one time limit: its name, its value, and where the spec sets it, if it does.
type budget struct {
	name  string
	value time.Duration
	set   *schema.Duration
}

func resolveLimits(report *schema.Diagnostics, spec *schema.Limits) model.Limits {
	out := defaultLimits
	if spec == nil {
		return out
	}
	if spec.BatchEvents != nil {
		out.BatchEvents = int(spec.BatchEvents.Value)
	}
	if spec.BatchBytes != nil {
		out.BatchBytes = spec.BatchBytes.Value
	}
	if spec.MaxPayload != nil {
		out.MaxPayload = spec.MaxPayload.Value
	}
	if spec.Effects != nil {
		out.Effects = int(spec.Effects.Value)
	}
	if spec.MaxDepth != nil {
		out.MaxDepth = int(spec.MaxDepth.Value)
	}
	take := func(name string, to *time.Duration, set *schema.Duration) budget {
		if set != nil {
			*to = set.Value
		}
		return budget{name, *to, set}
	}
	take("batch_wait", &out.BatchWait, spec.BatchWait)
	batch := take("batch_timeout", &out.BatchTimeout, spec.BatchTimeout)
	event := take("event_timeout", &out.EventTimeout, spec.EventTimeout)
	statement := take("statement_timeout", &out.StatementTimeout, spec.StatementTimeout)
	lock := take("lock_timeout", &out.LockTimeout, spec.LockTimeout)
	poll := take("max_poll_interval", &out.MaxPollInterval, spec.MaxPollInterval)
	if spec.Broken {
		return out
	}
	checkPollBudget(report, batch, poll)
	checkBudget(report, "E702", event, batch)
	checkBudget(report, "E703", statement, batch)
	checkBudget(report, "E703", lock, statement)
	return out
}

func checkPollBudget(report *schema.Diagnostics, batch, poll budget) {
	at := batch.set
	if at == nil {
		at = poll.set
	}
	if at == nil || batch.value+drain < poll.value {
		return
	}
	report.Add(at.Pos, "E701", fmt.Sprintf("batch_timeout %s plus %s to drain does not fit into max_poll_interval %s",
		model.DurationText(batch.value), model.DurationText(drain), model.DurationText(poll.value)),
		"lower batch_timeout or raise max_poll_interval, else Kafka takes the partition away in mid-batch")
}

// checkBudget reports an inner limit that is longer than the outer one.
func checkBudget(report *schema.Diagnostics, code string, inner, outer budget) {
	if inner.value <= outer.value {
		return
	}
	at, hint := inner.set, fmt.Sprintf("lower %s or raise %s", inner.name, outer.name)
	switch {
	case inner.set == nil && outer.set == nil:
		return
	case inner.set == nil:
		at, hint = outer.set, fmt.Sprintf("%s is %s by default: lower it too", inner.name, model.DurationText(inner.value))
	case outer.set == nil:
		hint = fmt.Sprintf("%s is %s by default: raise it too", outer.name, model.DurationText(outer.value))
	}
	report.Add(at.Pos, code, fmt.Sprintf("%s %s is longer than %s %s", inner.name, model.DurationText(inner.value), outer.name, model.DurationText(outer.value)), hint)
}
