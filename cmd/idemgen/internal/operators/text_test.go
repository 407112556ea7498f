package operators

import (
	"testing"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/commandtest"
	"github.com/idemgen/idemgen/cmd/idemgen/internal/doctor"
	"github.com/idemgen/idemgen/internal/operate"
)

// Every page can be made of its value, whether all of it is there or as little as possible.
func TestEveryPageCanBeMade(t *testing.T) {
	commandtest.EveryPage(t, pages, map[string]any{
		"streams": &streams{},
		"changes": &struct{ Changes []operate.Change }{},
		"dead letters": &struct {
			operate.LetterList
			All bool
		}{},
		"dead letter": &struct {
			*operate.Opened
			Decoded string
		}{new(operate.Opened), ""},
		"adopted keys": &adopted{},
		"asked":        &asked{},
		"answers":      &struct{ Answers []operate.Answer }{},
		"checks": &struct {
			Wide   int
			Checks []doctor.Check
		}{},
		"behind": &operate.Letter{Behind: new(int64)}, "request": &operate.Request{}, "call": &operate.Call{},
	})
}
