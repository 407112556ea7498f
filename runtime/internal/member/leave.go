package member

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Leave gives up all partitions, commits offsets and closes the client. If the client does not
// close in time, Leave returns nevertheless, and the group notices at the session timeout. Leave
// also returns the error that ended the member.
func (m *Member) Leave() error {
	m.giveUp(slices.Collect(maps.Values(m.partitions.all)), false)
	m.partitions.closed = true // from here on rebalances are only acknowledged
	failed := m.fetcher.err    // which a rebalance may set while the client closes
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
		return failed
	}
	return m.fetcher.err
}
