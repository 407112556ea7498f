package generator

import "github.com/idemgen/idemgen/internal/gen/explain"

// Explained describes, in sentences, what a spec guarantees for its events.
type Explained struct {
	Refusal
	Topics []explain.Topic
}

// Explain returns what a spec guarantees for each event.
func Explain(s Spec) *Explained {
	e := &Explained{}
	if service := e.load(s); service != nil {
		e.Topics = explain.Service(service)
	}
	return e
}
