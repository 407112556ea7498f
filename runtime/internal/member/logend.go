package member

import (
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// endInterval is the interval at which the ends of logs are reported to the sink, for partitions
// that are fetched.
const endInterval = time.Second

// endsDue reports whether it is time to report, once per interval.
func (s *partitions) endsDue(now time.Time) bool {
	if !now.After(s.nextEnds) {
		return false
	}
	s.nextEnds = now.Add(endInterval)
	return true
}

// tellEnds reports the ends of logs to the sink, for the partitions that are fetched: the client
// receives the end with every fetch.
func (m *Member) tellEnds() {
	for _, p := range m.partitions.all {
		if !p.isFetched() {
			continue
		}
		id := p.delivery.Partition
		if end := m.client.End(id); end >= 0 {
			m.sink.End(id, max(p.end, end))
		}
	}
}

// withoutEnd returns the partitions for which the client may not receive the end of the log,
// because no record has arrived since the last comparison. Each comparison queries the brokers for
// them.
func (s *partitions) withoutEnd() (list []idemtype.Partition) {
	for _, p := range s.all {
		if !p.isFetched() || p.silence.quiet {
			list = append(list, p.delivery.Partition)
		}
	}
	return list
}
