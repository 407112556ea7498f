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
		clock:      at(83),
		partitions: []partition{{12_345, 12_345, one}, {12_400, 12_310, one}, {13_200, 12_000, two}, {7, 0, member{}}},
		consumers:  []member{one, two},
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
         3         0      7                    dead letters           3

 consumer 1  process 4711    running           lost 0  doubled 0
 consumer 2  process 4712    frozen            34,567 effects audited, 4 s ago

  0:01    consumer 1 took over partition 0, 1
  1:01  k kill -9 of consumer 2, process 4700
  1:20  p a record that is no event: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

 k kill  f freeze  c cut reply  d duplicates  p poison  s stop Postgres  q quit
`
	if got := view(moment(), 79, 16).String(); got != want[1:] {
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
	if got := view(moment(), 79, 14).String(); !strings.Contains(got, "1:20") || strings.Contains(got, "0:01") {
		t.Errorf("got\n%s", got)
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
