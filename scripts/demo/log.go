package main

import "github.com/idemgen/idemgen/scripts/internal/shop"

const (
	oldAgain = 2_000
	bad      = 10
)

// newLog makes the log: mostly orders, payments and shipments, with producer retries
// throughout, 2,000 old records again in the second half, one key with other content, ten
// broken records, and tombstones.
func newLog() []shop.Entry {
	m := shop.New(7, partitions)
	first := take(m, total/2)
	rest := take(m, total/2-oldAgain-bad-1)
	keyed := keyed(first[:total/4])
	var extra []shop.Entry
	for i := range oldAgain {
		extra = append(extra, shop.Entry{Message: shop.Again(keyed[i*len(keyed)/oldAgain].Message), Cause: shop.Old})
	}
	extra = append(extra, shop.Entry{Message: shop.Changed(keyed[0].Message), Cause: shop.Reused})
	for i := range bad {
		extra = append(extra, m.Broken(i))
	}
	m.Shuffle(extra)
	return append(first, interleave(rest, extra)...)
}

// take makes the next n entries.
func take(m *shop.Maker, n int) []shop.Entry {
	var out []shop.Entry
	for len(out) < n {
		out = append(out, m.Next()...)
	}
	return out[:n:n]
}

// interleave spreads extra evenly over base.
func interleave(base, extra []shop.Entry) []shop.Entry {
	out := make([]shop.Entry, 0, len(base)+len(extra))
	taken := 0
	for i, e := range base {
		out = append(out, e)
		for due := (i + 1) * len(extra) / len(base); taken < due; taken++ {
			out = append(out, extra[taken])
		}
	}
	return append(out, extra[taken:]...)
}

// keyed are the entries whose events carry a key of their own.
func keyed(entries []shop.Entry) []shop.Entry {
	var out []shop.Entry
	for _, e := range entries {
		if e.Cause == shop.Original {
			out = append(out, e)
		}
	}
	return out
}
