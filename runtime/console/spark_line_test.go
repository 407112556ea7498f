package console

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

// A line is drawn from its first value to the last over the whole width, the largest one on top;
// a mark is where the problem began, if that is in the picture.
func TestALineIsDrawn(t *testing.T) {
	const what = "records behind"
	for _, c := range []struct {
		s                   spark
		points, mark, label string
	}{
		{spark{what: what}, "", "", "no records behind known yet"},
		{spark{values: []float64{3}, what: what, span: 5 * time.Second}, "", "", "records behind: 3 now, at most 3 in the last 5s"},
		{spark{values: []float64{0, 0}, what: what}, "0.0,19.0 240.0,19.0", "", "records behind: 0 now, at most 0 in the last 0s"},
		{spark{values: []float64{0, 10, 5, 2.6}, what: what, span: 90*time.Second + 400*time.Millisecond}, "0.0,19.0 80.0,1.0 160.0,10.0 240.0,14.3", "", "records behind: 3 now, at most 10 in the last 1m30s"},
		{spark{span: time.Minute, broke: time.Minute, what: what}, "", "0.0", "no records behind known yet"},
		{spark{span: time.Minute, broke: 15 * time.Second, what: what}, "", "180.0", "no records behind known yet"},
		{spark{span: time.Minute, broke: time.Minute + 1, what: what}, "", "", "no records behind known yet"},
	} {
		if c.s.Points() != c.points || c.s.Mark() != c.mark || c.s.Label() != c.label {
			t.Errorf("%+v: %q, %q, %q", c.s, c.s.Points(), c.s.Mark(), c.s.Label())
		}
	}
}

// A topic's position and lag are those of its present partitions. A lag that is not known is
// none, and a position that was moved back is no rate.
func TestSamplesOfATopic(t *testing.T) {
	at := func(topic string, position, lag int64) operate.Status {
		s := operate.Status{Name: operate.Name{Consumer: "c", Topic: topic}, Tail: &operate.Tail{Position: position}}
		if lag >= -1 {
			s.Reported = reported("READY", "", lag, 0)
		}
		return s
	}
	former := at("t", 1000, 1000)
	former.Former = true
	var s samples
	now := time.Now().Add(-20 * time.Second)
	for _, streams := range [][]operate.Status{
		{at("t", 10, 7), at("t", 5, -1), former, {Name: operate.Name{Consumer: "c", Topic: "t"}}, at("u", 99, -2)},
		{at("t", 20, 0), at("t", 5, -2), at("u", 99, -1)},
		{at("t", 8, -1), at("t", 5, -1), at("u", 99, -1)},
	} {
		s.add(now, streams)
		s.add(now.Add(sampleEvery*9/10-1), nil) // too soon
		now = now.Add(sampleEvery)
	}
	rate, rates, lags := s.of("c", "t")
	if rate != 0 || len(rates.values) != 2 || rates.values[0] != 2 || rates.values[1] != 0 || rates.what != "records a second" {
		t.Errorf("rate %v, rates %+v", rate, rates)
	}
	if len(lags.values) != 3 || lags.values[0] != 7 || lags.values[1] != 0 || lags.values[2] != 0 || lags.what != "records behind" || lags.span < 20*time.Second || lags.span != rates.span {
		t.Errorf("lags %+v", lags)
	}
	if all := s.topics["c\x00t"]; all[1].lag != 0 || all[2].lag != -1 || all[0].position != 15 || s.topics["c\x00u"][0].lag != -1 {
		t.Errorf("samples %+v", s.topics)
	}
}
