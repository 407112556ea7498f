package member

import (
	"context"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
)

// answers are the brokers' responses about one partition.
type answers struct {
	Asker
	high, epochEnd int64
}

func (a answers) Watermarks(context.Context, idemtype.Partition) (low, high int64, err error) {
	return 0, a.high, nil
}

func (a answers) Ends(_ context.Context, list []idemtype.Partition) (map[idemtype.Partition]int64, error) {
	return map[idemtype.Partition]int64{list[0]: a.high}, nil
}

func (a answers) EpochEnd(context.Context, idemtype.Partition, idemtype.Position) (int64, error) {
	return a.epochEnd, nil
}

// If a log has more records than the client delivers, its leader epochs are compared with the
// position at the next comparison: it may be another log, and the client does not report that.
func TestUnreadLogIsComparedByItsEpochs(t *testing.T) {
	p := &Partition{delivery: &intake.Delivery{}}
	id := p.delivery.Partition
	for name, test := range map[string]struct {
		brokers answers
		heard   bool
		want    verdict
	}{
		"other log":             {answers{high: 130, epochEnd: -1}, false, cut},
		"truncated":             {answers{high: 130, epochEnd: 90}, false, cut},
		"the client is slow":    {answers{high: 130, epochEnd: 100}, false, unread},
		"a record came":         {answers{high: 130, epochEnd: -1}, true, inOrder},
		"nothing more to read":  {answers{high: 100, epochEnd: -1}, false, inOrder},
		"the log ends below it": {answers{high: 90, epochEnd: -1}, false, inOrder}, // the time of a silence shows it
	} {
		s := subject{partition: p, at: idemtype.Position{Offset: 100, Epoch: 7}, heard: test.heard}
		found, err := compareWith(t.Context(), test.brokers, []subject{s}, map[string]intake.Topic{}, map[idemtype.Partition]int64{id: test.brokers.high})
		if err != nil || len(found) != 1 || found[0].shows() != test.want {
			t.Errorf("%s: got %v, %v; want %v", name, found[0].shows(), err, test.want)
		}
	}
}
