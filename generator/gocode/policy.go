package gocode

import (
	"fmt"
	"strconv"
	"time"

	"github.com/idemgen/idemgen/generator/model"
)

// policyDecl writes on_failure of an event, and behind it what the topic says instead.
func policyDecl(f *file, e *model.Event) {
	doc := fmt.Sprintf("%s is on_failure of %s. It is read only.", policyVar(e), e.GoName)
	if e.OnFailure == e.Topic.OnFailure {
		doc = fmt.Sprintf("%s is on_failure of %s: it is equal to that of the topic. It is read only.", policyVar(e), e.GoName)
	}
	f.decl(doc, text("var %s =", policyVar(e)).Add(failurePolicy(e.OnFailure, e.Topic.OnFailure)))
}

// failurePolicy is on_failure of a topic or an event. Where other, that of the topic, differs,
// a comment says so.
func failurePolicy(p, other model.FailurePolicy) code {
	var lines []code
	add := func(name string, value code, says, others string) {
		line := pair(name, value).(*expr).Add(text(","))
		if says != others {
			line.Comment("the topic: " + others)
		}
		lines = append(lines, line)
	}
	number := func(name string, n, others int) { add(name, lit(n), strconv.Itoa(n), strconv.Itoa(others)) }
	span := func(name string, d, others time.Duration) {
		add(name, duration(d), model.DurationText(d), model.DurationText(others))
	}
	number("Retries", p.Retries, other.Retries)
	span("InitialBackoff", p.InitialBackoff, other.InitialBackoff)
	span("MaxBackoff", p.MaxBackoff, other.MaxBackoff)
	if stop, others := p.GiveUp == "stop", other.GiveUp == "stop"; stop || others {
		add("Stop", lit(stop), strconv.FormatBool(stop), strconv.FormatBool(others))
	}
	number("StopAfter", p.StopAfter, other.StopAfter)
	span("Keep", p.Keep, other.Keep)
	for _, is := range []struct {
		name       string
		is, others bool
	}{{"Park", p.Park, other.Park}, {"Drop", p.Drop, other.Drop}} {
		if is.is || is.others {
			add(is.name, lit(is.is), strconv.FormatBool(is.is), strconv.FormatBool(is.others))
		}
	}
	return literalLines(wire("FailurePolicy"), lines)
}
