package keys

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/maintain"
)

// clock is the last time known from the database's clock.
type clock struct {
	at     time.Time
	agrees bool // with this process's clock
}

// Heard records a time of the database's clock, which was read after sent and before now. While
// the clocks do not agree, no key leaves the window.
func (m *Memory) Heard(at, sent time.Time) {
	if m.chain == nil {
		return
	}
	now := m.process.Now()
	before := m.clock
	m.clock = clock{at: at, agrees: !at.Before(sent.Add(-maintain.ClockTolerance)) && !at.After(now.Add(maintain.ClockTolerance))}
	args := []any{"tolerance", maintain.ClockTolerance, "topic", m.partition.Topic, "partition", m.partition.Number, "database", at.UTC(), "worker", now.UTC()}
	switch {
	case m.clock.agrees == before.agrees && !before.at.IsZero():
	case !m.clock.agrees:
		m.process.Log.Error("the clocks of the database and this process differ: no key leaves its window until they agree", args...)
	case !before.at.IsZero():
		m.process.Log.Info("the clocks of the database and this process agree again", args...)
	}
}
