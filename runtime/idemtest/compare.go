package idemtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/runtime/idem"
)

// compare checks what a scenario left: tables, dead letters, counters and the ledger.
func (b *trial) compare(suspects string) {
	b.t.Helper()
	if b.told {
		return
	}
	var wrong []string
	report := func(what, d string) {
		if d != "" {
			wrong = append(wrong, what+"\n"+d)
		}
	}
	got := b.dump()
	if err := b.normalize(b.t.Context(), b.db); err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	report("the tables are not what "+b.source+" says", b.tableDiff(got))
	if b.want.dead == nil {
		report("the dead letters are not what "+b.source+" says", classDiff(b))
	}
	report("the dead letters differ (- expected, + the database; topic, partition, offset, class, path)", b.deadLetterDiff())
	report("the calls of effects are not the expected ones", strings.Join(b.effects.faults(b), "\n"))
	report("the ledger is broken", strings.Join(b.ledgerFaults(), "\n"))
	if !b.inexact {
		report("the counters differ (- expected, + Stats)", b.counterDiff())
	}
	if len(wrong) == 0 {
		return
	}
	log := b.logged.String()
	if log != "" {
		log = "\nlog of the runtime:\n" + log
	}
	b.t.Errorf("%s\nlikely causes: %s%s", strings.Join(wrong, "\n\n"), suspects, log)
}

// tableDiff compares the tables. Columns that tell the place of a record, or that a handler
// fills with something else each time, are left out if they are all that differs.
func (b *trial) tableDiff(got *state) string {
	d := b.rowDiff(b.want, got)
	if d == "" || !b.moved && !b.handlers {
		return d
	}
	if b.loose == nil {
		b.loose = map[column]bool{}
		elsewhere := b.oneByOne(b.t, b.log, func(r record) idem.Message {
			m := r.message
			m.Partition, m.Offset = 1, 1000+7*m.Offset
			return m
		})
		for name := range b.runner.want.columns() {
			if !slices.Equal(b.runner.want.cells(name), elsewhere.cells(name)) {
				b.loose[name] = true
			}
		}
	}
	return b.rowDiff(b.want.without(b.loose), got.without(b.loose))
}

// deadLetterDiff compares the dead letters: those of the log, wherever its records were
// delivered, and those that the scenario made.
func (b *trial) deadLetterDiff() string {
	want := map[recordOffset]expectedDead{}
	for at, index := range b.delivered {
		if l, dead := b.want.dead[index]; dead {
			want[at] = l
		}
	}
	for at, l := range b.ownDead {
		want[at] = l
	}
	var expected, found []string
	for at, l := range want {
		expected = append(expected, l.at(at))
	}
	for at, l := range b.deadLetters() {
		if w, known := want[at]; known && w.matches(l) {
			found = append(found, w.at(at))
		} else {
			found = append(found, fmt.Sprintf("%s %d %d %s", at.topic, at.number, at.offset, l.reason))
		}
	}
	return diff(expected, found)
}

// counterDiff compares Stats with what was delivered.
func (b *trial) counterDiff() string {
	searches := 0
	for _, l := range b.deadLetters() {
		if l.class == "database" || l.class == "handler" {
			searches++
		}
	}
	s := b.consumer.Stats()
	sum := s.Applied + s.Redelivered + s.Resent + s.Conflicts + s.Dead + s.Waiting + s.Ignored
	var want, got []string
	if s.Searches != int64(searches) {
		want = append(want, fmt.Sprintf("Searches %d: one per event that the database or a handler rejected", searches))
		got = append(got, fmt.Sprintf("Searches %d: statements of one batch conflicted with each other", s.Searches))
	}
	if sum != b.sent {
		want = append(want, fmt.Sprintf("%d records were delivered", b.sent))
		got = append(got, fmt.Sprintf("%d records are counted: %+v", sum, s))
	}
	return diff(want, got)
}

// most is how many differing lines are shown.
const most = 40

// diff compares lines without regard to their order: "- " only in want, "+ " only in got.
func diff(want, got []string) string {
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	var out []string
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(got) == 0 || len(want) > 0 && want[0] < got[0]:
			out = append(out, "- "+want[0])
			want = want[1:]
		case len(want) == 0 || got[0] < want[0]:
			out = append(out, "+ "+got[0])
			got = got[1:]
		default:
			want, got = want[1:], got[1:]
		}
	}
	return shortened(out)
}

func shortened(lines []string) string {
	if n := len(lines); n > most {
		lines = append(lines[:most], fmt.Sprintf("and %d lines more", n-most))
	}
	return strings.Join(lines, "\n")
}
