package maintain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

func TestClocksApartStopExpiry(t *testing.T) {
	t.Parallel()
	db := database(t)
	first(t, db, "a")
	key(t, db, "a")
	j, log := job(db, "a")
	pass(t, db, "a", 31*time.Minute)
	upkeep(t, db, j)
	key(t, db, "a")
	pass(t, db, "a", 2*time.Hour)
	stream := chain(t, db, "a", 200, 100)
	letter(t, db, stream, 1, "d", "9 days")
	letter(t, db, stream, 1, "r", "9 days")
	j.Now = func() time.Time { return time.Now().Add(-6 * time.Minute) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run(ctx, time.Millisecond)
	}()
	until(t, "no alarm", func() bool { return strings.Contains(log.String(), "the clocks of this process and of the database") })
	if !strings.Contains(log.String(), "consumption continues") {
		t.Errorf("the log says that the database cannot be used: %s", log.String())
	}
	until(t, "the chain is not trimmed", func() bool { return rows(t, db, stream) == "100 200 101" })
	cancel()
	<-done
	want(t, "generations while the clocks differ", generations(t, db, "a"), "1 sealed, 2 open")
	want(t, "letters while the clocks differ", left(t, db), "d 1, r 1")
	j.Now = time.Now
	upkeep(t, db, j)
	want(t, "generations then", generations(t, db, "a"), "2 sealed, 3 open")
	want(t, "letters then", left(t, db), "x 1")
}

func TestClocksAreComparedWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		database time.Duration
		apart    bool
	}{{0, false}, {-4 * time.Minute, false}, {4 * time.Minute, false}, {-6 * time.Minute, true}, {6 * time.Minute, true}, {-24 * time.Hour, true}} {
		if err := maintain.Apart(now, now.Add(test.database), now); (err != nil) != test.apart {
			t.Errorf("the database's clock is %v off: %v", test.database, err)
		}
	}
}
