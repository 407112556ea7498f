// This file is written by hand: what the tests of package gocode call.

package corners

import "github.com/idemgen/idemgen/runtime/wire"

// NewPlan returns a plan of topic type.v1 whose handlers are never called.
func NewPlan() wire.Plan { return typeV1Topic(nil).NewPlan() }

// Statements are those of topic type.v1.
func Statements() []string {
	t := typeV1Topic(nil)
	return t.Statements()
}
