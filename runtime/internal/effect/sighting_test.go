package effect

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/fault"
	"github.com/idemgen/idemgen/runtime/wire"
)

// While the clocks are apart, what a dead process held, a lock, a lease and a pause, ends once it
// was seen unchanged for its term; and whoever waits says so. What a live one holds does not end.
func TestWhatIsHeldWhileTheClocksAreApart(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	b.postgres.Apart = -time.Hour
	says := func(offset int64, what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !strings.Contains(b.desk.Why(offset), what); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("offset %d waits for %q, without %q", offset, b.desk.Why(offset), what)
			}
		}
		if why := b.desk.Why(offset); !strings.Contains(why, "; the clocks differ: the database's is 1h0m0s behind this process's, so it expires once") {
			t.Errorf("offset %d waits for %q", offset, why)
		}
	}

	crash := errors.New("crash")
	dying := fault.With(t.Context(), func(step string) error {
		if step == fault.AfterCall {
			return crash
		}
		return nil
	})
	b.start(dying, []wire.Effect{lockedEffect(0, "", &soon, answer("lost"))})
	if _, err := b.end(0); !errors.Is(err, crash) {
		t.Fatal(err)
	}
	begun := time.Now()
	b.start(t.Context(), []wire.Effect{lockedEffect(1, "", &soon, answer("after the lock"))})
	says(1, `lock "`+account.Name+`", which`)
	want(t, "behind a lock", string(b.result(1).Result), "after the lock")
	again := lockedEffect(0, "", &soon, answer("after the lease"))
	again.Lock = wire.Lock{}
	b.start(t.Context(), []wire.Effect{again})
	says(0, "its lease, which")
	want(t, "behind a lease", string(b.result(0).Result), "after the lease")
	if took := time.Since(begun); took < 2*soon.Lease {
		t.Errorf("lock and lease ended after %v, each lasts %v", took, soon.Lease)
	}

	failed := 0
	failing := effectOf(2, "", &soon, func(context.Context) ([]byte, error) {
		if failed++; failed == 1 {
			return nil, errors.New("not yet")
		}
		return []byte("after the pause"), nil
	})
	failing.Policy = &wire.FailurePolicy{Retries: 3, InitialBackoff: 200 * time.Millisecond, MaxBackoff: 200 * time.Millisecond}
	b.start(t.Context(), []wire.Effect{failing})
	says(2, "the end of the pause after its last call")
	want(t, "behind a pause", string(b.result(2).Result), "after the pause")

	called, goOn := make(chan struct{}), make(chan struct{})
	b.start(t.Context(), []wire.Effect{lockedEffect(3, "", &soon, func(context.Context) ([]byte, error) {
		close(called)
		<-goOn
		return []byte("alive"), nil
	})})
	<-called
	other := b.beside(b.process)
	other.start(t.Context(), []wire.Effect{effectOf(3, "", &soon, answer("a second call"))})
	time.Sleep(2 * soon.Lease)
	close(goOn)
	want(t, "of a live holder", string(other.result(3).Result), "alive")
}
