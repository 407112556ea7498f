package gocode

import (
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// policyDecl writes on_failure of an event with a key of its own, which decides how long its dead
// letters are kept.
func policyDecl(f *file, e *model.Event) {
	doc := fmt.Sprintf("%s is the on_failure policy of %s. It is read-only.", policyVar(e), e.GoName)
	if e.OnFailure == e.Topic.OnFailure {
		doc = fmt.Sprintf("%s is the on_failure policy of %s, equal to that of the topic. It is read-only.", policyVar(e), e.GoName)
	}
	f.variable(doc, policyVar(e), failurePolicy(e.OnFailure, e.Topic.OnFailure.Keep))
}

// failurePolicy is on_failure of a topic or an event. Where the topic keeps its dead letters for
// another time, a comment says so.
func failurePolicy(p model.FailurePolicy, topicKeeps time.Duration) code {
	var lines []code
	add := func(name string, value code) *expr {
		line := pair(name, value).(*expr).Add(text(","))
		lines = append(lines, line)
		return line
	}
	add("Retries", lit(p.Retries))
	add("InitialBackoff", duration(p.InitialBackoff))
	add("MaxBackoff", duration(p.MaxBackoff))
	if p.GiveUp == "stop" {
		add("Stop", lit(true))
	}
	add("StopAfter", lit(p.StopAfter))
	if keep := add("Keep", duration(p.Keep)); p.Keep != topicKeeps {
		keep.Comment("instead of the topic's " + model.DurationText(topicKeeps))
	}
	if p.Park {
		add("Park", lit(true))
	}
	if p.Drop {
		add("Drop", lit(true))
	}
	return literalLines(wire("FailurePolicy"), lines)
}
