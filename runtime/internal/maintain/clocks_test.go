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

// The database's clock may be five minutes behind the first reading of this process's clock, and
// five ahead of the second.
func TestClocksAreComparedWithinFiveMinutes(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Minute
	before := time.Now()
	after := before.Add(time.Minute)
	for _, test := range []struct {
		database time.Time
		apart    string
	}{
		{before, ""}, {before.Add(-most), ""}, {after.Add(most), ""},
		{before.Add(-most - 1), "6m0s"}, {after.Add(most + 1), "5m0s"},
		{before.Add(-24 * time.Hour), "24h1m0s"},
	} {
		err := maintain.Apart(before, test.database, after)
		if (err != nil) != (test.apart != "") || err != nil && !strings.Contains(err.Error(), "are "+test.apart+" apart") {
			t.Errorf("the database's clock is %v off: %v", test.database.Sub(before), err)
		}
	}
}
