package idemtest

import (
	"fmt"
	"strings"
	"testing"
)

type doer interface{ do() }

type stubDoer struct{}

func (stubDoer) do() {}

type ownDoer []int // which == cannot compare

func (ownDoer) do() {}

// ended is a test that ends at once, failed or not.
type ended struct {
	recorder
	failed bool
}

func (e *ended) Cleanup(f func()) { f() }
func (e *ended) Failed() bool     { return e.failed }
func (e *ended) Log(args ...any)  { fmt.Fprint(&e.text, args...) }

// TestAFailureUnderTheStubNamesTheStub: and no other failure does, nor does a test that passes.
func TestAFailureUnderTheStubNamesTheStub(t *testing.T) {
	for _, c := range []struct {
		handler doer
		failed  bool
		tells   bool
	}{
		{stubDoer{}, true, true},
		{stubDoer{}, false, false},
		{ownDoer{1}, true, false},
		{nil, true, false},
	} {
		e := &ended{recorder: recorder{TB: t}, failed: c.failed}
		if got := Handler[doer](e, c.handler, stubDoer{}); fmt.Sprint(got) != fmt.Sprint(c.handler) {
			t.Errorf("%T became %T", c.handler, got)
		}
		if strings.Contains(e.text.String(), "newTestHandler returns stubHandler{}") != c.tells {
			t.Errorf("%T, failed %v: %q", c.handler, c.failed, e.text.String())
		}
	}
}
