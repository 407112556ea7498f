package chain_test

import (
	"errors"
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/engine/chain"
	"github.com/idemgen/idemgen/runtime/internal/pipeline"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
)

// Only the reply to a commit proves that an attempt counts: not the absence of an error.
func TestNothingCommitsWithoutItsReply(t *testing.T) {
	var a chain.Attempt
	for _, r := range []pipeline.Reply{{}, {Tag: "COMMIT", Answered: 9}} { // neither is from the server
		if c, err := a.Acknowledged(r, chain.Stamp{}); !errors.Is(err, verdict.ErrRolledBack) || c != (chain.Committed{}) {
			t.Errorf("%+v: got %v, %v", r, c, err)
		}
	}
	for name, use := range map[string]func(){
		"Attempt": func() { chain.Committed{}.Attempt() },
		"Settle":  func() { (&chain.Chain{}).Settle(chain.Committed{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("what nothing acknowledged counts")
				}
			}()
			use()
		})
	}
}
