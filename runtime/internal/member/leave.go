package member

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Leave gives all partitions up, commits offsets and closes the client, which can hang in
// that: after a while it is left behind, and the group notices by its session timeout. It returns
// the error that ended the member, too.
func (m *Member) Leave() error {
	m.giveUp(slices.Collect(maps.Values(m.partitions.all)), false)
	m.partitions.closed = true // from here on a rebalance is answered, and nothing else
	closed := make(chan error, 1)
	go func() {
		m.calls.Wait()
		closed <- m.client.Close()
	}()
	select {
	case err := <-closed:
		if err != nil {
			return errors.Join(m.fetcher.err, fmt.Errorf("leaving the group: %w", err))
		}
	case <-time.After(m.Pace.Close):
		m.log.Warn("the Kafka client does not close; the group notices at the session timeout", "waited", m.Pace.Close)
	}
	return m.fetcher.err
}
