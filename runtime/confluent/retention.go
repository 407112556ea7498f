package confluent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// forEver is the retention of a topic that never drops a record for its age.
const forEver = time.Duration(1<<63 - 1)

// checkRetention compares once how long topics keep records with what the spec assumes. It
// only warns: the configuration may change later, unseen, and may not be ours to read.
func (r *shared) checkRetention(ctx context.Context) {
	for _, topic := range slices.Sorted(maps.Keys(r.sub.Retention)) {
		kept, err := r.kept(ctx, topic)
		switch assumed := r.sub.Retention[topic]; {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.log.Warn("it is not known how long the topic keeps records: assume.retention is not compared", "topic", topic, "err", err)
		case kept == forEver:
			r.log.Warn("the topic never drops old records, assume.retention says that it does: who reads it again may apply old copies whose keys are forgotten",
				"topic", topic, "assumed", assumed)
		case kept > assumed:
			r.log.Warn("the topic keeps records for longer than assume.retention says: who reads it again may apply old copies whose keys are forgotten",
				"topic", topic, "assumed", assumed, "kept", kept)
		}
	}
}

// kept asks for how long the topic keeps records at most. That it may keep fewer for their
// size is no promise.
func (b *broker) kept(ctx context.Context, topic string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	answer, err := b.admin.DescribeConfigs(ctx, []kafka.ConfigResource{{Type: kafka.ResourceTopic, Name: topic}}, kafka.SetAdminRequestTimeout(b.limit))
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
