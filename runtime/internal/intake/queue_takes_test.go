package intake

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Who waits for a batch gets it once it is complete, and hears at once that the position is in
// doubt. Of an empty queue it hears after a time.
func TestTakeEndsAsSoonAsItCan(t *testing.T) {
	for name, test := range map[string]struct {
		then  func(q *Queue)
		n     int
		err   error
		after time.Duration
	}{
		"a complete batch":    {func(q *Queue) { fill(q, 2, 1) }, 2, nil, 0},
		"a complete one more": {func(q *Queue) { fill(q, 3, 1) }, 2, nil, 0},
		"a part of one":       {func(q *Queue) { fill(q, 1, 1) }, 1, nil, time.Hour},
		"doubt":               {func(q *Queue) { fill(q, 1, 1); q.Retake() }, 0, errRetake, 0},
		"nothing":             {func(*Queue) {}, 0, nil, 2*time.Hour - time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := openQueue(2, 1000, time.Hour)
				var n int
				var resume bool
				var err error
				done := make(chan time.Time)
				go func() {
					var records []wire.Message
					records, resume, err = q.Take(t.Context(), 2*time.Hour)
					n = len(records)
					done <- time.Now()
				}()
				time.Sleep(time.Minute)
				synctest.Wait()
				start := time.Now()
				test.then(q)
				if after := (<-done).Sub(start); n != test.n || resume || !errors.Is(err, test.err) || after != test.after {
					t.Errorf("took %d records, %t, %v after %v; want %d, %v after %v", n, resume, err, after, test.n, test.err, test.after)
				}
			})
		})
	}
}

// The memory of a batch that was delivered holds a later one, and one only; what was dropped does
// not come again.
func TestMemoryOfADeliveredBatchIsUsedAgain(t *testing.T) {
	q := openQueue(2, 1000, time.Hour)
	next := int64(0)
	put := func(n int) {
		for range n {
			q.Put(&wire.Message{Offset: next}, 1)
			next++
		}
	}
	take := func() (all []wire.Message) {
		t.Helper()
		all, _, err := q.Take(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	put(2 * (depth + 2))
	var all [][]wire.Message
	for range depth + 2 {
		all = append(all, take())
	}
	for _, records := range all {
		q.Release(records)
		if records[0].Offset != 0 || records[1].Offset != 0 {
			t.Error("the records stay in memory")
		}
	}
	if n := len(q.backlog.spare); n != depth {
		t.Errorf("the memory of %d batches is kept, want %d", n, depth)
	}
	begin := next
	put(2 * (depth + 1))
	again := 0
	for i := range depth + 1 {
		got := take()
		if got[0].Offset != begin+int64(2*i) || got[1].Offset != begin+int64(2*i)+1 {
			t.Errorf("batch %d has the offsets %d and %d", i, got[0].Offset, got[1].Offset)
		}
		for _, old := range all {
			if &got[0] == &old[0] {
				again++
			}
		}
	}
	if again != depth {
		t.Errorf("%d batches are in memory that was used before, want %d", again, depth)
	}
	put(3)
	q.Shut()
	q.Open(q.Reset())
	begin = next
	put(2)
	if got := take(); got[0].Offset != begin || q.backlog.records != 0 || q.backlog.bytes != 0 {
		t.Errorf("after what was dropped comes offset %d, want %d; %d records of %d bytes are left", got[0].Offset, begin, q.backlog.records, q.backlog.bytes)
	}
}

// A client that is paused resumes when few records are left, and few bytes.
func TestHalfEmptyIsOfRecordsAndBytes(t *testing.T) {
	for _, test := range []struct {
		put, size int
		want      string // after each batch that is taken
		q         *Queue
	}{
		{40, large, "false true false false", openQueue(10, 1<<30, time.Hour)},
		{4, 600, "false false false true", openQueue(1, 1000, time.Hour)},
		{12, 100, "false false true false", openQueue(3, 1000, time.Hour)},
	} {
		q := test.q
		fill(q, test.put, test.size)
		if !q.pauseIfFull() {
			t.Fatalf("%d records of %d bytes do not fill it", test.put, test.size)
		}
		got := ""
		for len(q.backlog.batches) > 0 {
			_, resume, _, _ := q.tryTake()
			got += fmt.Sprint(" ", resume)
		}
		if got != " "+test.want {
			t.Errorf("%d records of %d bytes: resumes%s, want %s", test.put, test.size, got, test.want)
		}
	}
	q := openQueue(100, 1<<30, time.Hour)
	if fill(q, 1, 3*fetchBytes) {
		t.Error("a single large record fills a queue that has room for more")
	}
	q.ReachedEnd(5)
	q.Put(&wire.Message{Offset: 5}, 1)
	q.backlog.drop()
	if q.End() != -1 {
		t.Error("the end is known although a record came after it")
	}
}
