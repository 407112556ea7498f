package confluent

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// forEver is the retention of a topic that never drops a record for its age.
const forEver = time.Duration(1<<63 - 1)

const oldCopies = "who reads it again may apply old copies whose keys are forgotten"

// compareRetention compares, when a topic's first partition is assigned, how long it keeps records
// with how long their keys are known. It only warns: the configuration may change later, unseen,
// and may not be ours to read.
func (r *run) compareRetention(topic string) {
	if r.sub.Window == nil || r.comparison.retention[topic] {
		return
	}
	r.comparison.retention[topic] = true
	if window := r.sub.Window(topic); window > 0 {
		r.calls.Go(func() { r.broker.checkRetention(r.ctx, topic, window, r.log.Logger) })
	}
}

func (b *broker) checkRetention(ctx context.Context, topic string, window time.Duration, log *slog.Logger) {
	kept, err := b.retention(ctx, topic)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		log.Info("it is not known how long the topic keeps records: the windows of keys are not compared with that",
			"topic", topic, "err", err)
	case kept == forEver:
		log.Warn("the topic never drops old records, but the window of its keys ends: "+oldCopies,
			"topic", topic, "window", window)
	case kept > window:
		log.Warn("the topic keeps records for longer than the window of its keys: "+oldCopies,
			"topic", topic, "window", window, "kept", kept)
	}
}

// retention asks for how long the topic keeps records at most. That it may keep fewer for their
// size is no promise.
func (b *broker) retention(ctx context.Context, topic string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	question := []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic}}
	answer, err := b.admin.DescribeConfigs(ctx, question, kafka.SetAdminRequestTimeout(b.timeout))
	if err != nil {
		return 0, err
	}
	if e := answer[0].Error; e.Code() != kafka.ErrNoError {
		return 0, e
	}
	config := answer[0].Config
	if !strings.Contains(config["cleanup.policy"].Value, "delete") {
		return forEver, nil
	}
	ms, err := strconv.ParseInt(config["retention.ms"].Value, 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("retention.ms: %w", err)
	case ms < 0 || ms > int64(forEver/time.Millisecond):
		return forEver, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
