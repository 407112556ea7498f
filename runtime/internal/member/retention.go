package member

import (
	"context"
	"log/slog"
	"time"

	"github.com/idemgen/idemgen/internal/retention"
)

const oldCopies = "reading it again may apply old duplicates, whose keys have expired"

// compareRetention compares the retention of a topic with the window of its keys, when the topic's
// first partition is assigned. It only warns: the configuration may change later without notice,
// and the client may not be permitted to read it.
func (m *Member) compareRetention(topic string) {
	if m.sub.Window == nil || m.comparison.retention[topic] {
		return
	}
	m.comparison.retention[topic] = true
	if window := m.sub.Window(topic); window > 0 {
		m.calls.Go(func() { checkRetention(m.ctx, m.client, topic, window, m.log) })
	}
}

func checkRetention(ctx context.Context, c Asker, topic string, window time.Duration, log *slog.Logger) {
	var kept time.Duration
	config, err := c.TopicConfig(ctx, topic)
	if err == nil {
		kept, err = retention.Of(config)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Info("the retention of the topic is unknown: it is not compared with the windows of keys",
			"topic", topic, "err", err)
	case kept == retention.ForEver:
		log.Warn("the topic never deletes old records, but its keys have a window: "+oldCopies,
			"topic", topic, "window", window)
	case kept > window:
		log.Warn("the topic retains records for longer than the window of its keys: "+oldCopies,
			"topic", topic, "window", window, "kept", kept)
	}
}
