package member

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/intake"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A comparison is due once per interval, sooner while brokers cannot be reached or a position is
// lost, and never while another one runs. A comparison for a lost position delays no other one,
// and is made again if it fails.
func TestComparisonIsDue(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	c := newComparison(Pace{Compare: 10 * time.Second, Backoff: time.Second})
	c.next = start.Add(10 * time.Second)
	failed := errors.New("no answer")
	for _, step := range []struct {
		at   time.Duration
		do   func(now time.Time)
		due  bool
		next time.Duration // of what is due regularly
	}{
		{0, func(time.Time) {}, false, 10 * time.Second},
		{10 * time.Second, func(time.Time) {}, false, 10 * time.Second},
		{10*time.Second + 1, func(time.Time) {}, true, 10 * time.Second},
		{11 * time.Second, func(now time.Time) { c.begin(now, false) }, false, 21 * time.Second},
		{30 * time.Second, func(time.Time) {}, false, 21 * time.Second}, // it runs
		{30 * time.Second, func(time.Time) { c.end(true, nil, false) }, true, 21 * time.Second},
		{40 * time.Second, func(now time.Time) { c.begin(now, true); c.end(false, failed, false) }, false, 41 * time.Second},
		{41*time.Second + 1, func(time.Time) {}, true, 41 * time.Second},
		{50 * time.Second, func(now time.Time) { c.begin(now, false); c.end(true, nil, false) }, false, time.Minute},
		{51 * time.Second, func(time.Time) { c.positionLost = true }, true, time.Minute},
		{51 * time.Second, func(now time.Time) { c.end(true, failed, c.begin(now, false)) }, false, time.Minute},
		{52*time.Second - 1, func(time.Time) {}, false, time.Minute},
		{52 * time.Second, func(time.Time) {}, true, time.Minute}, // it failed
		{52 * time.Second, func(now time.Time) { c.end(true, nil, c.begin(now, false)) }, false, time.Minute},
		{53 * time.Second, func(time.Time) {}, false, time.Minute}, // it did not
		{54 * time.Second, func(now time.Time) { c.begin(now, false); c.end(true, failed, false) }, false, 64 * time.Second},
		{55 * time.Second, func(now time.Time) { c.begin(now, false); c.positionLost = true; c.end(true, nil, false) }, false, 65 * time.Second},
		{56 * time.Second, func(time.Time) {}, true, 65 * time.Second}, // it was lost meanwhile
		{57 * time.Second, func(now time.Time) { c.begin(now, false); c.end(true, nil, false); c.next = now }, false, 57 * time.Second},
		{57*time.Second + 1, func(time.Time) {}, true, 57 * time.Second}, // all brokers were reported down
	} {
		now := start.Add(step.at)
		step.do(now)
		if due, next := c.due(now), c.next.Sub(start); due != step.due || next != step.next {
			t.Errorf("after %v: due %t, the next one at %v, want %t and %v", step.at, due, next, step.due, step.next)
		}
	}
}

// Why a comparison failed is logged once for each cause, and not if the sink reports it.
func TestFailedComparisonIsLoggedOnce(t *testing.T) {
	t.Parallel()
	c := newComparison(Usual)
	one, other := errors.New("one"), errors.New("other")
	for i, step := range []struct {
		answered bool
		err      error
		log      bool
	}{
		{true, one, true}, {true, one, false}, {false, other, false}, {true, one, false}, {true, other, true},
		{true, nil, false}, {true, other, true}, {false, nil, false}, {true, other, false},
	} {
		if got := c.end(step.answered, step.err, false); got != step.log {
			t.Errorf("step %d: logged %t, want %t", i, got, step.log)
		}
	}
}

// A silence lasts once per limit.
func TestSilenceLastsOncePerLimit(t *testing.T) {
	t.Parallel()
	var s silence
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for _, step := range []struct {
		at    time.Duration
		lasts bool
	}{{0, false}, {30*time.Second - 1, false}, {30 * time.Second, true}, {31 * time.Second, false}, {time.Minute, true}, {2 * time.Minute, true}} {
		if got := s.lasts(30*time.Second, start.Add(step.at)); got != step.lasts {
			t.Errorf("after %v: %t", step.at, got)
		}
	}
	s.heard()
	if s.lasts(30*time.Second, start.Add(3*time.Minute)) || !s.lasts(30*time.Second, start.Add(210*time.Second)) {
		t.Error("a silence after a record does not begin with it")
	}
}

// oneLog answers queries about a partition whose position is offset 100 of epoch 7.
type oneLog struct {
	Asker
	low, high, end, epochEnd int64
	fails                    string
	asked                    []string
}

func (l *oneLog) ask(query string) error {
	l.asked = append(l.asked, query)
	if query == l.fails {
		return errors.New("no answer")
	}
	return nil
}

func (l *oneLog) Watermarks(context.Context, idemtype.Partition) (low, high int64, err error) {
	return l.low, l.high, l.ask("watermarks")
}

func (l *oneLog) Ends(_ context.Context, list []idemtype.Partition) (map[idemtype.Partition]int64, error) {
	return map[idemtype.Partition]int64{list[0]: l.end}, l.ask("ends")
}

func (l *oneLog) EpochEnd(context.Context, idemtype.Partition, idemtype.Position) (int64, error) {
	return l.epochEnd, l.ask("epoch")
}

func (l *oneLog) OpenTransaction(context.Context, idemtype.Partition) string {
	_ = l.ask("transaction")
	return "producer 9"
}

// Only what is needed to judge a partition is queried, and what is found is judged.
func TestPartitionIsJudgedByWhatIsAsked(t *testing.T) {
	t.Parallel()
	p := &Partition{delivery: &intake.Delivery{}}
	id, topic := p.delivery.Partition, intake.Topic{ID: wire.UUID{1}, Partitions: 2}
	whole := oneLog{low: 10, high: 130, end: 140, epochEnd: 130}
	with := func(change func(*oneLog)) oneLog {
		l := whole
		change(&l)
		return l
	}
	read := with(func(l *oneLog) { l.high, l.end = 100, 100 })
	all, none := []string{"watermarks", "ends", "epoch"}, []string(nil)
	for name, test := range map[string]struct {
		subject subject // besides partition, topic and offset
		log     oneLog
		end     int64 // that was found for all partitions
		other   bool  // the topic was made again
		asked   []string
		want    verdict
		failed  bool
	}{
		"a record came":                         {subject{heard: true}, whole, 140, false, none, inOrder, false},
		"nothing more":                          {subject{}, whole, 100, false, none, inOrder, false},
		"one more":                              {subject{}, whole, 101, false, all, unread, false},
		"one more, that waits":                  {subject{}, read, 101, false, []string{"watermarks"}, inOrder, false},
		"one more, of another topic":            {subject{}, whole, 101, true, none, topicChanged, false},
		"silent":                                {subject{silent: true, heard: true}, whole, 0, false, all, unread, false},
		"silent, of another topic":              {subject{silent: true, lost: true}, whole, 0, true, none, topicChanged, false},
		"silent, of no epoch":                   {subject{silent: true, at: idemtype.Position{Epoch: -1}}, whole, 0, false, all[:2], unread, false},
		"silent, of the first epoch":            {subject{silent: true, at: idemtype.Position{Epoch: -7}}, whole, 0, false, all, unread, false},
		"silent, and all is read":               {subject{silent: true}, read, 100, false, all[:2], inOrder, false},
		"silent, behind an open transaction":    {subject{silent: true}, with(func(l *oneLog) { l.high, l.end = 100, 101 }), 0, false, append(all[:2:2], "transaction"), held, false},
		"silent, as a log that begins there":    {subject{silent: true}, with(func(l *oneLog) { l.low, l.high, l.end = 100, 100, 100 }), 0, false, all[:2], inOrder, false},
		"silent, before the log":                {subject{silent: true}, with(func(l *oneLog) { l.low = 101 }), 0, false, all, outOfLog, false},
		"silent, behind the log":                {subject{silent: true}, with(func(l *oneLog) { l.high, l.end = 99, 99 }), 0, false, all[:2], outOfLog, false},
		"silent, in a log that was cut":         {subject{silent: true}, with(func(l *oneLog) { l.epochEnd = 99 }), 0, false, all, cut, false},
		"silent, in a log that was cut there":   {subject{silent: true}, with(func(l *oneLog) { l.epochEnd = 100 }), 0, false, all, unread, false},
		"lost":                                  {subject{silent: true, lost: true}, read, 0, false, all, inOrder, false},
		"lost, of no epoch":                     {subject{silent: true, lost: true, at: idemtype.Position{Epoch: -1}}, read, 0, false, all[:2], inOrder, false},
		"lost, in a log that was cut":           {subject{silent: true, lost: true}, with(func(l *oneLog) { l.high, l.end, l.epochEnd = 100, 100, 99 }), 0, false, all, cut, false},
		"without an answer of the watermarks":   {subject{silent: true}, with(func(l *oneLog) { l.fails = "watermarks" }), 0, false, all[:1], 0, true},
		"without an answer of the end":          {subject{silent: true}, with(func(l *oneLog) { l.fails = "ends" }), 0, false, all[:2], 0, true},
		"without an answer of the epoch's end":  {subject{silent: true}, with(func(l *oneLog) { l.fails = "epoch" }), 0, false, all, 0, true},
		"with an end that is older":             {subject{silent: true}, with(func(l *oneLog) { l.high, l.end = 100, 90 }), 0, false, all[:2], inOrder, false},
		"with an end that is older, and unread": {subject{silent: true}, with(func(l *oneLog) { l.end = 90 }), 0, false, all, unread, false},
	} {
		s := test.subject
		s.partition, s.topic, s.at.Offset = p, topic, 100
		switch s.at.Epoch {
		case 0:
			s.at.Epoch = 7
		case -7:
			s.at.Epoch = 0
		}
		now := topic
		if test.other {
			now.ID[0] = 2
		}
		before := subject{partition: p, topic: topic, heard: true} // is in order
		l := test.log
		found, err := compareWith(t.Context(), &l, []subject{before, s}, map[string]intake.Topic{id.Topic: now}, map[idemtype.Partition]int64{id: test.end})
		if !slices.Equal(l.asked, test.asked) || (err != nil) != test.failed {
			t.Errorf("%s: %q was asked, want %q; error %v", name, l.asked, test.asked, err)
		}
		if test.failed {
			if len(found) != 1 {
				t.Errorf("%s: %d partitions were judged, want the first", name, len(found))
			}
			continue
		}
		f := found[len(found)-1]
		if got := f.shows(); len(found) != 2 || got != test.want {
			t.Errorf("%s: verdict %d of %d partitions, want %d of 2", name, got, len(found), test.want)
		}
		holder, end := "", int64(0)
		if test.want == held {
			holder = "producer 9"
		}
		if slices.Contains(test.asked, "ends") {
			end = max(l.high, l.end)
		}
		if f.holder != holder || f.end != end || f.asked.IsZero() == slices.Contains(test.asked, "ends") {
			t.Errorf("%s: the log ends at %d behind %q, as of %v; want %d and %q", name, f.end, f.holder, f.asked, end, holder)
		}
	}
}
