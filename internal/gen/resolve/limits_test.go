package resolve

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// Each limit of a spec is taken, and those of time follow from that of a batch.
func TestLimits(t *testing.T) {
	defaults := model.Limits{BatchEvents: 500, BatchBytes: 4 << 20, BatchWait: 50 * time.Millisecond, BatchTimeout: 30 * time.Second,
		MaxPayload: 1 << 20, Effects: 8, EventTimeout: 5 * time.Second, StatementTimeout: 20 * time.Second, LockTimeout: 5 * time.Second,
		MaxPollInterval: 5 * time.Minute}
	given := syntax.Limits{BatchEvents: &syntax.Int{Value: 3}, BatchWait: &syntax.Duration{Value: time.Second},
		BatchTimeout: &syntax.Duration{Value: 10 * time.Second}, MaxPayload: &syntax.Size{Value: 77}, Effects: &syntax.Int{Value: 2}}
	all := defaults
	all.BatchEvents, all.BatchWait, all.BatchTimeout, all.StatementTimeout, all.MaxPayload, all.Effects = 3, time.Second, 10*time.Second, 10*time.Second, 77, 2
	short, long := defaults, defaults
	short.BatchTimeout, short.EventTimeout, short.StatementTimeout, short.LockTimeout = time.Second, time.Second, time.Second, time.Second
	long.BatchTimeout, long.MaxPollInterval = 10*time.Minute, 20*time.Minute
	for i, c := range []struct {
		spec *syntax.Limits
		want model.Limits
	}{
		{nil, defaults}, {&syntax.Limits{}, defaults}, {&given, all},
		{&syntax.Limits{BatchTimeout: &syntax.Duration{Value: time.Second}}, short},
		{&syntax.Limits{BatchTimeout: &syntax.Duration{Value: 10 * time.Minute}}, long},
	} {
		if got := resolveLimits(c.spec); got != c.want {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
}
