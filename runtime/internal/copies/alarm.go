package copies

import (
	"fmt"
	"strconv"
	"time"
)

const (
	// lines is how many pairs of rows one Run tells in the log.
	lines = 10
	// fresh is for how long after the second copy was applied Why tells of it. A process that
	// starts later reads it, too, and need not be taken for one that does not work. What was
	// older when it began is not counted either: a process before it counted that.
	fresh = time.Hour
	// remedy is where to read on.
	remedy = "docs/operations.md, One key in two partitions"
)

// found tells of n keys that are in two rows.
func (a *Audit) found(one, other place, n int) {
	if other.written < one.written {
		one, other = other, one
	}
	if other.written > a.since.UnixMicro() {
		a.Found.Add(int64(n))
	}
	first, second := a.chains[one.stream], a.chains[other.stream]
	a.keepNewest(fmt.Errorf("topic %s: a key is in partition %d (row %d of its ledger, offsets %s) and in partition %d (row %d, offsets %s): "+
		"copies: same_partition does not hold, and the copy took effect again: see %s",
		first.topic, first.partition, one.seq, one.offsets(), second.partition, other.seq, other.offsets(), remedy), other)
	if a.said == lines {
		a.unsaid++
		return
	}
	a.said++
	a.Log.Error("keys are in two partitions: copies: same_partition does not hold, and the copies took effect again",
		"topic", first.topic, "keys", n, "partition", first.partition, "row", one.seq, "offsets", one.offsets(), "written", one.time(),
		"other_partition", second.partition, "other_row", other.seq, "other_offsets", other.offsets(), "other_written", other.time(),
		"sample", a.sampled(), "see", remedy)
}

// sayRest tells how much more Run found than the log has lines of.
func (a *Audit) sayRest() {
	if a.unsaid > 0 {
		a.Log.Error("keys are in two partitions: there are more rows than those that were told", "pairs_of_rows", a.unsaid, "sample", a.sampled(), "see", remedy)
	}
}

// sampled says which part of the keys is compared.
func (a *Audit) sampled() string {
	if a.sample.bits == 0 {
		return "all keys"
	}
	return "one key in " + strconv.Itoa(a.sample.share())
}

func (p place) offsets() string {
	return strconv.FormatInt(p.first, 10) + " to " + strconv.FormatInt(p.next-1, 10)
}

func (p place) time() string { return time.UnixMicro(p.written).UTC().Format(time.RFC3339) }

// keepNewest keeps a breach for Why if it is the newest one.
func (a *Audit) keepNewest(breach error, second place) {
	until := time.Now().Add(fresh - a.now.Sub(time.UnixMicro(second.written)))
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(a.until) {
		a.last, a.until = breach, until
	}
}

// Why is the newest breach while its second copy is younger than an hour; else nil. Without an
// audit there is none.
func (a *Audit) Why() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return a.last
	}
	return nil
}
