package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// view is what a screen of some size shows of a state.
func view(s state, width, height int) page {
	left := []line{text(faint, "").right(10, faint, "partition").right(20, faint, "position").right(27, faint, "lag").to(34).add(faint, "owner")}
	for i, at := range s.partitions {
		left = append(left, s.line(at, i))
	}
	address := line(nil)
	if s.pages != "" {
		address = text(faint, " the same as web pages: ").add(plain, s.pages)
	}
	p := append(page{heading(s, width), address}, beside(left, s.lines())...)
	p = append(append(p, nil), beside(consumers(s), s.verdict(s.clock))...)
	p = append(append(p, waiting(s)...), nil)
	foot := page{keys()}
	if height > leastLegend {
		foot = page{legend(), keys()}
	}
	room := max(0, height-len(p)-len(foot)-1)
	for _, e := range s.events[max(0, len(s.events)-room):] {
		p = append(p, e.line())
	}
	for len(p) < height-len(foot) {
		p = append(p, nil)
	}
	p = append(p[:max(0, height-len(foot))], foot...)
	for i := range p {
		p[i] = p[i].cut(width)
	}
	return p
}

// beside puts lines beside others.
func beside(left, right []line) (all []line) {
	for i := range max(len(left), len(right)) {
		var l line
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			l = append(l.to(47), right[i]...)
		}
		all = append(all, l)
	}
	return all
}

func heading(s state, width int) line {
	l := text(strong, " idemgen").add(plain, "  topic "+topic+" → tables in Postgres")
	if s.outage != "" {
		l = l.add(alarm, "  Postgres is away")
	}
	return l.right(width-1, faint, minutes(s.clock))
}

func minutes(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// perBlock is how many records a block of the bar of a lag stands for.
const perBlock = 40

// line shows a partition. While it changes hands, an arrow is before the next owner.
func (s state) line(p partition, number int) line {
	lag, how := p.end-p.position, plain
	if lag > perBlock {
		how = wary
	}
	blocks := strings.Repeat("█", min(5, int(lag)/perBlock))
	owner, held := "", plain
	switch is, next := s.owner(p); {
	case next != nil:
		owner, held = "→ "+next.name, wary
	case is != nil && is.is == frozen:
		owner, held = is.name, wary
	case is != nil:
		owner = is.name
	case p.owner.pid != 0:
		owner, held = "nobody", wary
	}
	return text(faint, "").right(10, plain, fmt.Sprint(number)).right(20, plain, commas(p.position)).
		right(27, how, commas(lag)).add(how, " "+blocks).to(34).add(held, owner)
}

// waiting says what partitions wait for.
func waiting(s state) (all []line) {
	waits := s.waits()
	for _, why := range slices.Sorted(maps.Keys(waits)) {
		what, numbers := "partition", strings.Trim(strings.ReplaceAll(fmt.Sprint(waits[why]), " ", ", "), "[]")
		if len(waits[why]) > 1 {
			what = "partitions"
		}
		all = append(all, text(wary, fmt.Sprintf(" %s %s: %s", what, numbers, why)))
	}
	return all
}

func consumers(s state) (all []line) {
	for _, m := range s.consumers {
		how := alarm
		switch m.is {
		case running:
			how = good
		case stopped:
			how = faint
		}
		all = append(all, text(plain, fmt.Sprintf(" %s  process %-8d", m.name, m.pid)).add(how, string(m.is)))
	}
	return all
}

func (f figures) lines() []line {
	row := func(name string, n int64) line { return text(faint, name).right(24, plain, commas(n)) }
	speed := func(l line, perSecond float64) line { return l.add(faint, fmt.Sprintf("  %.0f/s", perSecond)) }
	return []line{
		speed(row("rows in Postgres", f.rows), f.second.rows),
		speed(row("records produced", f.produced), f.second.produced),
		row("duplicates sent", f.again),
		row("  recognized", f.recognized),
		row("dead letters", f.letters),
	}
}

func (f figures) verdict(now time.Duration) []line {
	one := func(l line, name string, n int) line {
		how := good
		if n > 0 {
			how = alarm
		}
		return l.add(strong, name+" ").add(how, commas(int64(n)))
	}
	seen := fmt.Sprintf("%s effects audited", commas(f.effects))
	if ago := now - f.at; ago > 3*time.Second {
		seen += fmt.Sprintf(", %.0f s ago", ago.Seconds())
	}
	return []line{one(one(nil, "lost", f.lost).add(plain, "  "), "doubled", f.doubled), text(faint, seen)}
}

func (e event) line() line {
	l := text(faint, "").right(6, faint, minutes(e.at))
	if e.key == 0 {
		return l.add(plain, "    "+e.text)
	}
	return l.add(strong, fmt.Sprintf("  %c ", e.key)).add(strong, e.text)
}

// leastLegend is the height of a screen that has no room for a legend.
const leastLegend = 16

// legend says what the figures are.
func legend() line {
	return text(faint, " rows: in 3 tables · records: all in the log · audited: compared with the log")
}

// keys is the line that says what can be done.
func keys() line {
	l := text(plain, "")
	for _, a := range append(acts[:len(acts):len(acts)], act{key: quit, label: "quit"}) {
		l = l.add(strong, " "+string(a.key)).add(faint, " "+a.label+" ")
	}
	return l
}
