package operate

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Group is dead letters that have a class, an event and an error in common.
type Group struct {
	Cause              // Reason has # for each number and each quoted text
	Count    int       `json:"count"`
	Waiting  int       `json:"waiting"`   // records that are parked behind them, not counted by Count
	Asked    int       `json:"asked"`     // of them: with a pending request
	Recent   int       `json:"last_hour"` // of them: from the last hour
	Keys     int       `json:"keys"`      // different record keys that they have
	Version  string    `json:"version"`   // of the program that rejected the first of them; "" if it has none
	Former   bool      `json:"former"`    // their topic was made again: they can only be discarded
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Consumer string    `json:"consumer"` // "" if they are from several
	Topic    string    `json:"topic"`    // "" if they are from several

	keys    map[parked]bool
	askedAt time.Time // of the first pending request
}

// Groups are the letters of a selection by what they have in common.
type Groups struct {
	Groups []Group `json:"groups"` // the largest first
	Older  *Mark   `json:"older"`  // letters before it were not counted; nil if all were
}

// parked identifies the letters that wait for one another: those of a record key in a stream.
type parked struct {
	stream int32
	key    [16]byte
}

// GroupsOf returns the groups of the newest 5,000 letters of a selection.
func GroupsOf(ctx context.Context, db DB, s Selection) (g Groups, err error) {
	all, bound, err := s.find(ctx, db, Mark{})
	if err != nil {
		return g, err
	}
	type identity struct {
		Cause
		former bool
	}
	groups, first := map[identity]*Group{}, map[parked]*Group{}
	for i := len(all) - 1; i >= 0; i-- { // the oldest first: later records of a key wait behind it
		f := &all[i]
		if f.waits {
			continue
		}
		c := identity{Cause{Event: f.event}, f.former}
		c.Class, c.Reason = split(f.reason, f.event)
		c.Reason = Common(c.Reason)
		group := groups[c]
		if group == nil {
			group = &Group{Cause: c.Cause, Former: f.former, First: f.At.UTC(), Last: f.At.UTC(), Version: f.version, Consumer: f.consumer, Topic: f.topic, keys: map[parked]bool{}}
			groups[c] = group
		}
		if key := (parked{f.Stream, f.key}); f.key != [16]byte{} {
			first[key], group.keys[key] = group, true
		}
		group.add(f)
	}
	for i := range all {
		if f := &all[i]; f.waits {
			if group := first[parked{f.Stream, f.key}]; group != nil {
				group.Waiting++
			}
		}
	}
	for _, of := range groups {
		of.Keys, of.keys = len(of.keys), nil
		g.Groups = append(g.Groups, *of)
	}
	slices.SortFunc(g.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.Text(), b.Text()))
	})
	g.Older = bound
	return g, nil
}

func (g *Group) add(f *found) {
	g.Count++
	if f.asked {
		g.Asked++
		if g.askedAt.IsZero() || f.askedAt.Before(g.askedAt) {
			g.askedAt = f.askedAt
		}
	}
	if f.recent {
		g.Recent++
	}
	if g.Consumer != f.consumer {
		g.Consumer = ""
	}
	if g.Topic != f.topic {
		g.Topic = ""
	}
	g.Last = f.At.UTC()
}

// atWord matches what a word begins with that is more than a number: what tells causes apart, in
// the first group, and UUIDs.
var atWord = regexp.MustCompile(`^(?:(status [0-9]{3}\b|SQLSTATE [0-9A-Z]{5}\b|numeric\([0-9]+,-?[0-9]+\))|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b)`)

// number matches what a number begins.
var number = regexp.MustCompile(`^[0-9]+(?:[.:-][0-9]+)*`)

// differs returns the length of a text that begins at i and differs between reasons of one cause:
// a quoted text, a UUID or a number. A status, an SQLSTATE and the size of a type stay. It is
// called for each byte of thousands of reasons, so it looks before it matches.
func differs(reason string, i int) (length int, stays bool) {
	rest, c := reason[i:], reason[i]
	if c == '"' || c == '\'' {
		return strings.IndexByte(rest[1:], c) + 2, false // 1 if it does not end
	}
	hex := len(rest) > 8 && rest[8] == '-'
	if (hex || c == 's' || c == 'S' || c == 'n') && (i == 0 || !inWord(reason[i-1])) {
		if m := atWord.FindStringSubmatchIndex(rest); m != nil {
			return m[1], m[2] >= 0
		}
	}
	if c >= '0' && c <= '9' {
		return len(number.FindString(rest)), false
	}
	return 0, false
}

func inWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

// Common returns the part of a reason that is the same for all that has one cause, with # for each
// number and each quoted text, at most 300 characters.
func Common(reason string) string {
	var common strings.Builder
	for i := 0; i < len(reason); {
		length, stays := differs(reason, i)
		if length > 1 && !stays || length == 1 && inWord(reason[i]) {
			common.WriteByte('#')
		} else {
			length = max(length, 1)
			common.WriteString(reason[i : i+length])
		}
		i += length
	}
	return shorten(common.String(), 300)
}

// shorten returns the first characters of a text.
func shorten(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}
