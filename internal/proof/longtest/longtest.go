// Package longtest keeps tests that take long apart from those that make test runs: another test
// shows the same more cheaply there, and make matrix runs the long ones.
//
// It must not import any other package of this module.
package longtest

import (
	"os"
	"testing"
)

// Variable is the environment variable that has the long tests run.
const Variable = "IDEMGEN_LONG"

// Wanted reports whether the long tests run.
func Wanted() bool { return os.Getenv(Variable) == "1" }

// Skip skips a test that takes long unless the long tests run.
func Skip(t testing.TB) {
	t.Helper()
	if !Wanted() {
		t.Skipf("it takes long: make matrix runs it, and so does %s=1 go test -run '^%s$'", Variable, t.Name())
	}
}
