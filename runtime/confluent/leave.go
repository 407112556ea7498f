package confluent

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

// leaveGroup gives all partitions up, commits offsets and closes the client, which can hang in
// that: after a while it is left behind, and the group notices by its session timeout. lines
// is the client's log, which ends with the client.
func (r *run) leaveGroup(lines chan kafka.LogEvent) error {
	r.revoke(slices.Collect(maps.Values(r.partitions.all)), false)
	r.partitions.closed = true // from here on the callback, within Close, only answers
	closed := make(chan error, 1)
	go func() {
		r.calls.Wait()
		closed <- r.client.Close()
		close(lines) // the client writes no more
	}()
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("confluent: leaving the group: %w", err)
		}
	case <-time.After(r.pace.close):
		r.log.Warn("the Kafka client does not close; the group notices at the session timeout", "waited", r.pace.close)
	}
	return nil
}
