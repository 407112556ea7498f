package member

import "time"

// silence is how long no record of a partition came, and what was found out about that.
type silence struct {
	quiet    bool      // no record since the last comparison
	since    time.Time // the first comparison without a record, or the last one with the log
	behind   time.Time // when a comparison first showed records that the client does not hand over
	reported bool      // the sink knows
}

// heard tells that a record came, or that none is expected.
func (s *silence) heard() { s.quiet = false }

// lasts reports, once in a limit, that no record came for as long. It is asked with each
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

// stuck tells that the log has records that the client does not hand over. It reports whether
// the sink must be told: if that was so before.
func (s *silence) stuck(now time.Time) (tell bool) {
	if s.behind.IsZero() {
		s.behind = now
		return false
	}
	tell = !s.reported
	s.reported = true
	return tell
}

// over tells that the client hands over what there is. It reports whether the sink must be
// told.
func (s *silence) over() (tell bool) {
	tell = s.reported
	s.behind, s.reported = time.Time{}, false
	return tell
}
