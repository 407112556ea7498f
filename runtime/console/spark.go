package console

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idemgen/internal/operate"
)

const (
	sampleEvery = 5 * time.Second
	sampleCount = 120 // ten minutes
)

// samples are positions and lags of topics over the last minutes.
type samples struct {
	mu     sync.Mutex
	last   time.Time
	topics map[string][]sample
}

// sample is the state of a topic at one moment.
type sample struct {
	at       time.Time
	position int64 // the sum over its partitions
	lag      int64 // the same; -1 if it is not known
}

// sample reads positions while somebody may look at them.
func (c *console) sample(ctx context.Context) {
	ticks := time.NewTicker(sampleEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if c.recent.idle() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		_, _, _ = c.snapshot(ctx) // the pages say why it fails
		cancel()
	}
}

// add adds a sample of each topic, unless the last one is too young.
func (s *samples) add(now time.Time, streams []operate.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < sampleEvery*9/10 {
		return
	}
	s.last = now
	sums := map[string]sample{}
	for _, status := range streams {
		if status.Former || status.Tail == nil {
			continue
		}
		key := status.Consumer + "\x00" + status.Topic
		sum, found := sums[key]
		if !found {
			sum = sample{at: now, lag: -1}
		}
		sum.position += status.Tail.Position
		if r := status.Reported; r != nil && r.Lag >= 0 {
			sum.lag = max(sum.lag, 0) + r.Lag
		}
		sums[key] = sum
	}
	all := map[string][]sample{}
	for key, sum := range sums {
		of := append(s.topics[key], sum)
		all[key] = of[max(0, len(of)-sampleCount):]
	}
	s.topics = all
}

// of returns the rate of a topic in offsets a second, and how rate and lag were.
func (s *samples) of(consumer, topic string) (rate float64, rates, lags spark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.topics[consumer+"\x00"+topic]
	for i := range all {
		lags.values = append(lags.values, float64(max(all[i].lag, 0)))
		if i == 0 {
			continue
		}
		rate = max(0, float64(all[i].position-all[i-1].position)) / all[i].at.Sub(all[i-1].at).Seconds()
		rates.values = append(rates.values, rate)
	}
	rates.what, lags.what = "records a second", "records behind"
	if len(all) > 0 {
		since := time.Since(all[0].at)
		rates.span, lags.span = since, since
	}
	return rate, rates, lags
}

// spark is a line of numbers over the last minutes.
type spark struct {
	values []float64
	what   string
	span   time.Duration
	broke  time.Duration // how long ago the oldest problem of the topic began; 0 if it has none
}

const (
	sparkWidth  = 240
	sparkHeight = 20
)

// Points returns the points of an SVG polyline; "" if there is nothing to draw.
func (s spark) Points() string {
	if len(s.values) < 2 {
		return ""
	}
	most := s.Most()
	if most == 0 {
		most = 1
	}
	var points []string
	for i, v := range s.values {
		x := float64(i) / float64(len(s.values)-1) * sparkWidth
		y := 1 + (1-v/most)*(sparkHeight-2)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return strings.Join(points, " ")
}

// Mark is where the oldest problem began; "" if it is not in the picture.
func (s spark) Mark() string {
	if s.broke <= 0 || s.broke > s.span {
		return ""
	}
	return fmt.Sprintf("%.1f", (1-float64(s.broke)/float64(s.span))*sparkWidth)
}

// Most is the largest value.
func (s spark) Most() (most float64) {
	for _, v := range s.values {
		most = max(most, v)
	}
	return most
}

// Label says in words what the line shows.
func (s spark) Label() string {
	if len(s.values) == 0 {
		return "no " + s.what + " known yet"
	}
	return fmt.Sprintf("%s: %.0f now, at most %.0f in the last %s", s.what, s.values[len(s.values)-1], s.Most(), operate.Age(s.span.Round(time.Second).Seconds()))
}
