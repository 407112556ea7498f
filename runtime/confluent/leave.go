package confluent

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// leave gives all partitions up, commits the hints and closes the client, which can hang in
// that: after a while it is left behind, and the group notices by its session timeout.
func (r *run) leave() error {
	r.release(slices.Collect(maps.Values(r.parts)), false)
	r.closing = true // from here on the callback, within Close, only answers
	closed := make(chan error, 1)
	go func() {
		r.calls.Wait()
		closed <- r.client.Close()
		close(r.lines) // the client writes no more
	}()
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("confluent: leaving the group: %w", err)
		}
	case <-time.After(r.pace.leave):
		r.log.Warn("the Kafka client does not close; the group notices at the session timeout", "waited", r.pace.leave)
	}
	return nil
}
