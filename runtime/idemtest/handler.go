package idemtest

import (
	"errors"
	"strings"
	"testing"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/halt"
)

// Handler returns the handler under test. If that is the stub, which does nothing, a test that
// fails says so: the rows that it misses are most likely those of the team's own code.
func Handler[H any](t testing.TB, handler, stub H) H {
	if any(handler) == any(stub) {
		t.Cleanup(func() {
			if t.Failed() {
				t.Log("idemtest: likely cause: newTestHandler returns stubHandler{}, which does nothing: let it return your own handler, for example Service{}")
			}
		})
	}
	return handler
}

// notWritten says what to do about the error of a handler that is as the scaffold made it; "" for
// another error.
func notWritten(err error) string {
	halted, ok := errors.AsType[*idem.HaltedError](err)
	if !ok || halted.Code != halt.Handler || !strings.HasSuffix(halted.Reason, " is not implemented") {
		return ""
	}
	return "\nlikely cause: the handler is as idemgen wrote it, and returns idem.ErrNotImplemented: write it, and run the test again"
}
