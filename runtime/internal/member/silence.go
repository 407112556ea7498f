package member

import "time"

// silence tracks how long a partition has had no records, and the results of comparisons about
// that.
type silence struct {
	quiet    bool      // no record since the last comparison
	since    time.Time // the first comparison without a record, or the last one with the log
	behind   time.Time // when a comparison first showed records that the client does not deliver
	reported bool      // it was reported to the sink
}

// heard records that a record arrived, or that none is expected.
func (s *silence) heard() { s.quiet = false }

// lasts reports, once per limit, that no record has arrived for that long. It is called with each
// comparison.
func (s *silence) lasts(limit time.Duration, now time.Time) bool {
	if !s.quiet {
		s.quiet, s.since = true, now
		return false
	}
	if now.Sub(s.since) < limit {
		return false
	}
	s.since = now
	return true
}

// stuck records that the log has records that the client does not deliver. It reports whether that
// must be reported to the sink, because it was so before.
func (s *silence) stuck(now time.Time) (tell bool) {
	if s.behind.IsZero() {
		s.behind = now
		return false
	}
	tell = !s.reported
	s.reported = true
	return tell
}

// over records that the client delivers all available records. It reports whether that must be
// reported to the sink.
func (s *silence) over() (tell bool) {
	tell = s.reported
	s.behind, s.reported = time.Time{}, false
	return tell
}
