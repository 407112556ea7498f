package idem

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

// dbClock is what the database's clock said last.
type dbClock struct {
	at     time.Time
	agrees bool // with this process's clock
}

// heard notes a time that the database's clock said after sent and before now. While the
// clocks do not agree, keys leave late, never early.
func (o *owner) heard(at, sent time.Time) {
	if o.keys == nil {
		return
	}
	now := o.c.now()
	before := o.clock
	o.clock = dbClock{at: at, agrees: !at.Before(sent.Add(-maintain.ClockTolerance)) && !at.After(now.Add(maintain.ClockTolerance))}
	args := []any{"tolerance", maintain.ClockTolerance, "topic", o.id.Topic, "partition", o.id.Number, "database", at.UTC(), "worker", now.UTC()}
	switch {
	case o.clock.agrees == before.agrees && !before.at.IsZero():
	case !o.clock.agrees:
		o.c.log.Error("the clocks of database and worker differ: no key leaves its window until they agree", args...)
	case !before.at.IsZero():
		o.c.log.Info("the clocks of database and worker agree again", args...)
	}
}
