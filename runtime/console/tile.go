package console

import (
	"fmt"
	"html/template"

	"github.com/idemgen/idemgen/internal/operate"
)

// tile is a number that tells how the services are.
type tile struct {
	Severity    operate.Severity
	Name, Value string
	Page        template.URL
}

// Tiles are the numbers above all else.
func (s *snapshot) Tiles() []tile {
	halted, live, members := 0, 0, 0
	all := topic{Worst: operate.Fine}
	for _, p := range s.all {
		if p.Severity == operate.Urgent {
			halted++
		}
		all.add(&p)
	}
	for _, p := range s.Processes {
		if p.Relay != nil || p.Silent && all.Unknown == 0 { // others own its partitions
			continue
		}
		if members++; !p.Silent {
			live++
		}
	}
	tone := func(bad bool, severity operate.Severity) operate.Severity {
		if bad {
			return severity
		}
		return operate.Fine
	}
	open := s.Dead.Count - s.Dead.Asked // that wait for an operator
	letters := thousands(int64(open))
	if s.Dead.Older != nil {
		letters += "+"
	}
	name, number := "Ready", all.Ready
	if halted > 0 {
		name, number = "Halted", halted
	}
	tiles := []tile{
		{all.Worst, name, fmt.Sprintf("%d of %d", number, all.Partitions), "#topics"},
		{s.worst(isLetter), "Dead letters", letters, "dead"},
		{tone(all.Unknown > 0, operate.NotKnown), "Lag", all.Behind(), "#topics"},
		{tone(live < members || live == 0 && len(s.all) > 0, toneOf(live)), "Processes", fmt.Sprintf("%d of %d", live, members), "#processes"},
	}
	parts := []string{"streams", "dead letters", "streams", "processes"}
	if s.Outbox != nil || s.unread("outbox") {
		tiles, parts = append(tiles, tile{s.worst(isSending), "Outbox", "?", "outbox"}), append(parts, "outbox")
		if s.Outbox != nil {
			tiles[4].Value = bounded(s.Outbox.Waiting, 100000)
		}
	}
	for i, part := range parts {
		if s.unread(part) {
			tiles[i].Severity, tiles[i].Value = operate.NotKnown, "?"
		}
	}
	return tiles
}

// toneOf is the severity of processes that are silent while so many live.
func toneOf(live int) operate.Severity {
	if live == 0 {
		return operate.Urgent
	}
	return operate.NotKnown
}
