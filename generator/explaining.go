package generator

import "github.com/idemgen/idemgen/internal/gen/explain"

// Explained is what a spec promises of its events, in sentences.
type Explained struct {
	Refusal
	Topics []explain.Topic
}

// Explain says of each event of a spec what is promised.
func Explain(s Spec) *Explained {
	e := &Explained{}
	if service := e.load(s); service != nil {
		e.Topics = explain.Service(service)
	}
	return e
}
