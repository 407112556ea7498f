// This file is written by hand: what the tests of package gocode call.

package waves

import "github.com/idemgen/idemgen/runtime/wire"

// NewPlan returns a plan of topic w.
func NewPlan() wire.Plan { return wTopic().NewPlan() }
