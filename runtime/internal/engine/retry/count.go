package retry

import (
	"time"

	"github.com/idemgen/idemgen/runtime/internal/backoff"
	"github.com/idemgen/idemgen/runtime/internal/verdict"
	"github.com/idemgen/idemgen/runtime/wire"
)

// count counts the failures of one record: of its handler, or by time.
type count struct {
	offset int64
	failed int
}

// again reports whether the record may be tried again, and after which pause.
func (c *count) again(offset int64, p *wire.FailurePolicy, err error) (time.Duration, bool) {
	if c.offset != offset {
		*c = count{offset: offset}
	}
	if after, asked := verdict.Pause(err); asked {
		if after >= 0 {
			return after, true
		}
		return backoff.Pause(max(1, c.failed), p.InitialBackoff, p.MaxBackoff), true
	}
	c.failed++
	return backoff.Pause(c.failed, p.InitialBackoff, p.MaxBackoff), c.failed <= p.Retries
}
