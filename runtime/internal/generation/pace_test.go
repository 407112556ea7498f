package generation_test

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/internal/generation"
)

// batches runs n batches; every k-th meets a key of the open generation.
func batches(p *generation.Pace, n, k int) (reads int) {
	for i := range n {
		if p.Reads() {
			reads++
		}
		if i%k == 0 {
			p.Raced()
		}
		p.Clean()
	}
	return reads
}

func TestOpenGenerationIsReadWhileRacesAreFrequent(t *testing.T) {
	for _, test := range []struct{ every, least, most int }{
		{1, 990, 1000}, {5, 950, 1000}, {8, 850, 1000}, {11, 0, 0}, {20, 0, 0}, {1001, 0, 0},
	} {
		if reads := batches(&generation.Pace{}, 1000, test.every); reads < test.least || reads > test.most {
			t.Errorf("a race in every %d batches: %d of 1000 read first, want %d to %d", test.every, reads, test.least, test.most)
		}
	}
}

func TestReadingEndsAfter100CleanBatches(t *testing.T) {
	var p generation.Pace
	batches(&p, 10, 1)
	if reads := batches(&p, 1000, 2000); reads < 99 || reads > 101 {
		t.Errorf("read first %d times after races ended", reads)
	}
}
