package spec

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/generator"
	"github.com/idemgen/idemgen/internal/gen/evolution"
	"github.com/idemgen/idemgen/internal/gen/survey"
)

// Every page can be made of its value, whether all of it is there or as little as possible.
func TestEveryPageCanBeMade(t *testing.T) {
	commandtest.EveryPage(t, pages, map[string]any{
		"topic":      &survey.Report{},
		"explained":  &generator.Explained{},
		"next steps": &generator.Started{},
		"plan": &struct {
			Spec, Against string
			Changes       []evolution.Change
			First         bool
		}{},
		"change": &evolution.Change{},
	})
}
