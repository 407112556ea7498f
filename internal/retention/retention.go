// Package retention reads from a topic's configuration how long Kafka keeps its records, for the
// comparison with the window of their keys. It must not import any other package of this module.
package retention

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ForEver is the retention of a topic that never deletes a record because of its age.
const ForEver = time.Duration(1<<63 - 1)

// Of returns the longest time for which a topic of this configuration keeps records. It ignores
// limits of size, because they guarantee nothing about time. The error says why it is unknown.
func Of(config map[string]string) (time.Duration, error) {
	if !strings.Contains(config["cleanup.policy"], "delete") {
		return ForEver, nil
	}
	ms, err := strconv.ParseInt(config["retention.ms"], 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("retention.ms: %w", err)
	case ms < 0 || ms > int64(ForEver/time.Millisecond):
		return ForEver, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
