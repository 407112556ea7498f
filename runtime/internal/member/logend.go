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
func (m *Member) tellEnds(now time.Time) {
	for _, p := range m.partitions.all {
		if !p.isFetched() {
			continue
		}
		end := m.client.End(p.delivery.Partition)
		if end < 0 {
			continue
		}
		if end = max(p.end, end); end != p.told.end { // the client received it after the last look
			p.told.end, p.told.after = end, p.told.looked
		}
		p.told.looked = now
		m.sink.End(p.delivery.Partition, end, p.told.after)
	}
}

// told is the end of a log as the client knows it.
type told struct {
	end           int64
	after, looked time.Time // it has had the end since after; it was asked last at looked
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
