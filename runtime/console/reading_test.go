package console

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// What was read serves all viewers for two seconds, an error too, unless the viewer who read it
// left meanwhile, or something was changed. Of many things, none is kept for ever.
func TestWhatWasReadIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache
		var failure error
		reads := 0
		read := func(ctx context.Context, key string) string {
			t.Helper()
			value, at, err := kept(ctx, &c, key, func(context.Context) (string, error) {
				reads++
				return fmt.Sprint(key, reads), failure
			})
			return fmt.Sprint(value, " ", time.Since(at), " ", err)
		}
		is := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		ctx := t.Context()
		is("first", read(ctx, "a"), "a1 0s <nil>")
		time.Sleep(2 * time.Second)
		is("kept", read(ctx, "a"), "a1 2s <nil>")
		is("another", read(ctx, "b"), "b2 0s <nil>")
		time.Sleep(time.Nanosecond)
		failure = errors.New("away")
		is("an error", read(ctx, "a"), "a3 0s away")
		failure = nil
		time.Sleep(time.Second)
		is("an error is kept", read(ctx, "a"), "a3 1s away")
		c.forget()
		is("after a change", read(ctx, "a"), "a4 0s <nil>")
		c.forget()
		gone, leave := context.WithCancel(ctx)
		leave()
		is("of a viewer who left", read(gone, "a"), "a5 0s <nil>")
		is("read by the next one", read(ctx, "a"), "a6 0s <nil>")
		for n := range mostEntries - 1 {
			read(ctx, fmt.Sprint("key ", n))
		}
		is("one of many", read(ctx, "key 7"), "key 714 0s <nil>")
		read(ctx, "one too many")
		is("one of too many", read(ctx, "key 7"), fmt.Sprintf("key 7%d 0s <nil>", 7+mostEntries))
		is("idle from the start", fmt.Sprint(c.idle()), "true")
		c.view()
		time.Sleep(15 * time.Minute)
		is("looked at", fmt.Sprint(c.idle()), "false")
		time.Sleep(time.Second)
		is("idle", fmt.Sprint(c.idle()), "true")
	})
}
