package effect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/internal/kit/transcript"
	"github.com/idemgen/idemgen/runtime/wire"
)

// The reason why an effect waits is reported until the effect ends: it becomes a dead letter, or
// is withdrawn. The success of another effect does not clear it.
func TestWhyAnEffectWaitsIsToldUntilItEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench, _ *fakeStore, _ *transcript.Buffer) {
		slowly := func(offset int64, retries int) wire.Effect {
			e := effectOf(offset, "", &soon, func(context.Context) ([]byte, error) { return nil, errors.New("no answer") })
			e.Policy = &wire.FailurePolicy{Retries: retries, InitialBackoff: 6 * time.Second, MaxBackoff: 6 * time.Second}
			return e
		}
		last := func() string { heard := b.heard(); return heard[len(heard)-1] }
		b.start(t.Context(), []wire.Effect{slowly(0, 3)})
		if o, err := b.end(0); err != nil || o.Refused == nil {
			t.Fatalf("%+v, %v", o, err)
		}
		failing := func(text string) bool { return strings.Contains(text, "effect E has been failing") }
		want(t, "told that it fails", slices.ContainsFunc(b.heard(), failing), true)
		want(t, "told last", last(), "")

		b.start(t.Context(), []wire.Effect{slowly(1, 100)})
		time.Sleep(time.Minute)
		other := effectOf(2, "", &soon, answer("r"))
		other.Event = "F"
		b.start(t.Context(), []wire.Effect{other})
		b.result(2)
		want(t, "told while another effect works", failing(last()), true)
		b.start(t.Context(), []wire.Effect{effectOf(3, "", &soon, answer("r"))})
		b.result(3)
		want(t, "told once the effect works for another event", last(), "")
		time.Sleep(time.Minute)
		want(t, "told while it fails for one event", failing(last()), true)
		b.desk.Withdraw(func(int64) bool { return true })
		synctest.Wait()
		want(t, "told last", last(), "")
	})
}
