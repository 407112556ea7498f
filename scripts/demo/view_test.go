package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"
)

// moment is a state in which much happens.
func moment() state {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	one, two := member{"consumer 1", 4711, running}, member{"consumer 2", 4712, frozen}
	return state{
		clock: at(83),
		partitions: []partition{
			{end: 12_345, position: 12_345, owner: one}, {end: 12_400, position: 12_310, owner: one, logged: logged{4711, "RETRYING", "the answer is 42"}},
			{end: 13_200, position: 12_000, owner: two}, {end: 7, logged: logged{4711, "FENCING", ""}},
		},
		consumers: []member{one, two},
		figures: figures{produced: 37_952, again: 1_904, recognized: 1_880, letters: 3, rows: 54_321, at: at(79), effects: 34_567,
			second: struct{ produced, rows float64 }{300.4, 455.1}},
		events: []event{
			{at(1), 0, "consumer 1 took over partition 0, 1"},
			{at(61), 'k', "kill -9 of consumer 2, process 4700"},
			{at(80.9), 'p', "a record that is no event: \"" + strings.Repeat("x", 80) + "\""},
		},
	}
}

func (p page) String() string {
	var b strings.Builder
	for _, l := range p {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func TestView(t *testing.T) {
	const want = `
 idemgen  topic orders.v1 → tables in Postgres                            1:23

 partition  position    lag       owner        rows in Postgres  54,321  455/s
         0    12,345      0       consumer 1   records produced  37,952  300/s
         1    12,310     90 ██    consumer 1   duplicates sent    1,904
         2    12,000  1,200 █████ consumer 2     recognized       1,880
         3         0      7       → consumer 1 dead letters           3

 consumer 1  process 4711    running           lost 0  doubled 0
 consumer 2  process 4712    frozen            34,567 effects audited, 4 s ago
 partition 1: the answer is 42

  0:01    consumer 1 took over partition 0, 1
  1:01  k kill -9 of consumer 2, process 4700
  1:20  p a record that is no event: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

 rows: in 3 tables · records: all in the log · audited: compared with the log
 k kill  f freeze  c cut reply  d duplicates  p poison  s stop Postgres  q quit
`
	if got := view(moment(), 79, 18).String(); got != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, want[1:])
	}
}

// A screen with no room shows what it has room for, the newest events first.
func TestViewOfASmallScreen(t *testing.T) {
	for height := range 20 {
		for _, width := range []int{0, 1, 30, 200} {
			p := view(moment(), width, height)
			for _, l := range p {
				if l.width() > width {
					t.Errorf("%d x %d: a line of %d", width, height, l.width())
				}
			}
			if len(p) != max(1, height) {
				t.Errorf("%d x %d: %d lines", width, height, len(p))
			}
		}
	}
	if got := view(moment(), 79, 15).String(); !strings.Contains(got, "1:20") || strings.Contains(got, "0:01") {
		t.Errorf("got\n%s", got)
	}
}

// The owner of a partition is the consumer that took it over last, as long as it runs and has the
// partition. What the partition waits for is what that consumer logs, or the next one.
func TestViewOfARebalance(t *testing.T) {
	one, two, frost := member{"consumer 1", 1, running}, member{"consumer 2", 2, running}, member{"consumer 2", 2, frozen}
	dead := member{"consumer 1", 9, killed}
	for _, tc := range []struct {
		name  string
		all   []member
		is    partition
		owner string
		waits bool
	}{
		{"at first", []member{one, two}, partition{}, "", false},
		{"at work", []member{one, two}, partition{owner: one, logged: logged{1, "READY", ""}}, "consumer 1", false},
		{"at work, but not", []member{one, two}, partition{owner: one, logged: logged{1, "RETRYING", "why"}}, "consumer 1", true},
		{"withdrawn", []member{one, two}, partition{owner: one, logged: logged{1, "OFF", ""}}, "nobody", false},
		{"on its way", []member{one, two}, partition{owner: one, logged: logged{2, "FENCING", ""}}, "→ consumer 2", false},
		{"on its way, but not", []member{two}, partition{owner: dead, logged: logged{2, "FENCING", "why"}}, "→ consumer 2", true},
		{"killed", []member{dead, two}, partition{owner: dead, logged: logged{9, "READY", ""}}, "nobody", false},
		{"killed while it waited", []member{dead, two}, partition{owner: dead, logged: logged{9, "RETRYING", "why"}}, "nobody", false},
		{"started again", []member{one, two}, partition{owner: dead}, "nobody", false},
		{"frozen", []member{one, frost}, partition{owner: frost, logged: logged{2, "READY", ""}}, "consumer 2", false},
		{"lost by one that froze", []member{one, two}, partition{owner: one, logged: logged{2, "STANDBY", "why"}}, "consumer 1", false},
	} {
		s := state{consumers: tc.all, partitions: []partition{tc.is}}
		shown := []rune(s.line(tc.is, 0).String())
		if owner := strings.TrimSpace(string(shown[min(len(shown), 33):])); owner != tc.owner {
			t.Errorf("%s: the owner is %q, want %q", tc.name, owner, tc.owner)
		}
		if waits := len(waiting(s)) > 0; waits != tc.waits {
			t.Errorf("%s: it waits: %v", tc.name, waits)
		}
	}
}

// The states of partitions are read from the lines that the runtime logs.
func TestLinesAboutPartitions(t *testing.T) {
	const head = "2026/01/01 00:00:00 ERROR "
	for line, want := range map[string]logged{
		head + `partition consumer=c topic=t partition=2 state=READY`:                                          {state: "READY"},
		head + `partition makes no progress consumer=c topic=t partition=2 state=RETRYING reason="a \"b\"\nc"`: {state: "RETRYING", why: `a "b"; c`},
		head + `partition makes no progress consumer=c topic=t partition=2 state=RETRYING reason=EOF`:          {state: "RETRYING", why: "EOF"},
		head + `partitions were assigned partitions="[t/0 t/1]"`:                                               {},
		head + `dead letter consumer=c topic=t partition=2 offset=7 reason="no JSON" class=decode`:             {},
	} {
		switch n, got := about([]byte(line)); {
		case got == nil && want != logged{}, got != nil && (*got != want || n != 2):
			t.Errorf("%s: partition %d, %+v", line, n, got)
		}
	}
}

// What is wrong is red.
func TestViewOfHarm(t *testing.T) {
	s := moment()
	s.doubled, s.outage = 2, "no connection"
	var red []string
	for _, l := range view(s, 80, 24) {
		for _, part := range l {
			if part.style == alarm {
				red = append(red, strings.TrimSpace(part.text))
			}
		}
	}
	if got := strings.Join(red, ", "); got != "Postgres is away, 2, frozen" {
		t.Errorf("red are %s", got)
	}
}

// The picture is XML, the same for the same frames, and shows the last one when nothing moves.
func TestPicture(t *testing.T) {
	first, second := moment(), moment()
	second.events[0].text = "a & b"
	frames := []page{view(first, 80, 24), view(second, 80, 24)}
	got := svg(frames)
	if got != svg(frames) {
		t.Error("the same frames, another picture")
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for text, n := range map[string]int{"a &amp; b": 1, "records produced": 1, `visibility="visible"`: 1, `visibility="hidden"`: 1} {
		if c := strings.Count(got, text); c != n {
			t.Errorf("%q is there %d times, want %d", text, c, n)
		}
	}
}
