package rig

import (
	"errors"
)

// ErrLost is the error of [Lose].
var ErrLost = errors.New("the reply is lost")

// Lose returns a hook of package fault that fails at a step.
func Lose(step string) func(string) error {
	return func(at string) error {
		if at == step {
			return ErrLost
		}
		return nil
	}
}

// ErrCut is the error of a connection that a test cut.
var ErrCut = errors.New("the line was cut")
