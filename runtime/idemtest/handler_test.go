package idemtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/idem"
)

type doer interface{ Do() error }

type stubDoer struct{}

func (stubDoer) Do() error { return nil }

type ownDoer []int // which == cannot compare

func (ownDoer) Do() error { return nil }

type scaffoldDoer struct{}

func (*scaffoldDoer) Do() error { return fmt.Errorf("Do: %w", idem.ErrNotImplemented) }

type outerDoer struct{ *scaffoldDoer }

type begunDoer struct{}

func (begunDoer) Do() error {
	if true {
		return nil
	}
	return idem.ErrNotImplemented
}

// failed is a test that ends with its first failure.
type failed struct {
	testing.TB
	text string
}

func (f *failed) Helper() {}

func (f *failed) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

// A handler that is as idemgen wrote it fails its test, which says where to write it, and so does
// the stub in its place.
func TestCodeThatIsNotWrittenFails(t *testing.T) {
	const unwritten = "idemtest: Do is not implemented: write it at handler_test.go:28, in place of idem.ErrNotImplemented"
	for _, c := range []struct {
		handler doer
		says    string
	}{
		{newTestHandler(), "idemtest: newTestHandler (handler_test.go:113) returns stubHandler{}, which does nothing: return your own handler there, for example Service{}"},
		{&scaffoldDoer{}, unwritten},
		{outerDoer{}, unwritten},
		{begunDoer{}, ""},
		{struct{ stubDoer }{}, ""},
		{ownDoer{1}, ""},
		{nil, ""},
	} {
		f := &failed{TB: t}
		if got := Handler[doer](f, c.handler, stubDoer{}); fmt.Sprint(got) != fmt.Sprint(c.handler) {
			t.Errorf("%T became %T", c.handler, got)
		}
		if f.text != c.says {
			t.Errorf("%T: %q, want %q", c.handler, f.text, c.says)
		}
	}
}

// The scenarios of a topic whose Go code is effects only run the service's own handlers, and so
// find what is not written.
func TestOwnHandlersOfTopicsWithEffectsOnly(t *testing.T) {
	made := ""
	as := func(name string) func(testing.TB, *pgxpool.Pool) (*idem.Consumer, error) {
		return func(testing.TB, *pgxpool.Pool) (*idem.Consumer, error) { made = name; return nil, nil }
	}
	effect, handled := &model.Event{}, &model.Event{}
	effect.Effect, handled.Handle = &model.Effect{}, true
	for want, events := range map[string][]*model.Event{"own": {effect, {}}, "stub": {effect, handled}, "stub ": {{}}} {
		_, _ = Service{Stub: as("stub"), New: as("own")}.starter(&model.Topic{Events: events})(t, nil)
		if made != strings.TrimSpace(want) {
			t.Errorf("%v: %s, want %s", events, made, want)
		}
	}
}

// A record whose case does not say what its call returns calls the service's own effect. A copy
// need not say it again.
func TestACaseCallsTheServicesOwnEffect(t *testing.T) {
	at := func(key string) record {
		return record{effect: "Put", keyed: true, message: idem.Message{Key: []byte(key)}}
	}
	said, own, copied := at("said"), at("own"), at("said")
	said.answer, own.answer, copied.answer = answer{result: []byte("1")}, answer{own: true}, answer{own: true}
	f := newEffects(&runner{log: []record{said, own, copied}})
	for key, calls := range map[string]bool{"said": false, "own": true} {
		if got := f.answer(identity(at(key).message), "Put").own; got != calls {
			t.Errorf("%s: the service's own effect is called: %v", key, got)
		}
	}
	if err := EffectCalled(context.Background(), errors.ErrUnsupported); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("what the effect returned became %v", err)
	}
}

func newTestHandler() doer { return stubDoer{} }
