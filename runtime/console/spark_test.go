package console

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/internal/process"
)

// Rates and lags of the last minutes are those of the ledgers' positions and of the reports; what
// lies further back is dropped.
func TestSparklines(t *testing.T) {
	var s samples
	begin := time.Now().Add(-time.Hour)
	for i := range int64(sampleCount + 10) {
		var all []operate.Status
		for p := range int32(2) {
			all = append(all, operate.Status{
				Name: operate.Name{Consumer: "c", Topic: "t", Partition: p}, Tail: &operate.Tail{Position: i * i}, Reported: &operate.Reported{Assigned: process.Assigned{Lag: 3 * i}},
			})
		}
		at := begin.Add(time.Duration(i) * sampleEvery)
		s.add(at, all)
		s.add(at.Add(time.Second), all) // too soon after the last one
	}
	rate, rates, lags := s.of("c", "t")
	last := float64(sampleCount + 9)
	if want := 2 * (2*last - 1) / 5; rate != want || rates.Most() != want {
		t.Errorf("rate %v, most %v, want %v", rate, rates.Most(), want)
	}
	if len(lags.values) != sampleCount || lags.Most() != 6*last || lags.Points() == "" {
		t.Errorf("lags: %+v", lags)
	}
	if _, none, _ := s.of("c", "another"); none.Points() != "" || none.Label() != "no records a second known yet" {
		t.Errorf("a topic that is not known: %+v", none)
	}
}
