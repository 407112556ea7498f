package member

import (
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
)

// endInterval is how often the sink is told where logs end, of partitions that are fetched.
const endInterval = time.Second

// endsDue reports whether it is time to tell, once in an interval.
func (s *partitions) endsDue(now time.Time) bool {
	if !now.After(s.nextEnds) {
		return false
	}
	s.nextEnds = now.Add(endInterval)
	return true
}

// tellEnds tells the sink where logs end, of the partitions that are fetched: the client hears
// it with every fetch.
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

// withoutEnd are the partitions whose logs' ends the client does not hear, or may not hear: no
// record came since the last comparison. The brokers are asked with each comparison.
func (s *partitions) withoutEnd() (list []idemtype.Partition) {
	for _, p := range s.all {
		if !p.isFetched() || p.silence.quiet {
			list = append(list, p.delivery.Partition)
		}
	}
	return list
}
