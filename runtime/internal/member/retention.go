package member

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// forEver is the retention of a topic that never deletes a record because of its age.
const forEver = time.Duration(1<<63 - 1)

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
	kept, err := retention(ctx, c, topic)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Info("the retention of the topic is unknown: it is not compared with the windows of keys",
			"topic", topic, "err", err)
	case kept == forEver:
		log.Warn("the topic never deletes old records, but its keys have a window: "+oldCopies,
			"topic", topic, "window", window)
	case kept > window:
		log.Warn("the topic retains records for longer than the window of its keys: "+oldCopies,
			"topic", topic, "window", window, "kept", kept)
	}
}

// retention queries the longest time for which the topic keeps records. It ignores limits of size,
// because they guarantee nothing about time.
func retention(ctx context.Context, c Asker, topic string) (time.Duration, error) {
	config, err := c.TopicConfig(ctx, topic)
	if err != nil {
		return 0, err
	}
	if !strings.Contains(config["cleanup.policy"], "delete") {
		return forEver, nil
	}
	ms, err := strconv.ParseInt(config["retention.ms"], 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("retention.ms: %w", err)
	case ms < 0 || ms > int64(forEver/time.Millisecond):
		return forEver, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
