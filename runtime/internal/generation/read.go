package generation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Progress is how far all partitions have been read that may still bring a copy of a claimed key.
type Progress struct {
	// Until is the time before which every record was appended that they still had to read, by the
	// database's clock; zero if it is not known.
	Until time.Time
	Last  string // the partition that has come least far, as topic/number, for people
}

// ReadUntil returns how far the partitions of a consumer have been read, of the topics that share
// their keys. A former topic of the same name is not read any more, and a topic that was never
// read has no keys. A partition that is paused, halted or behind stays at the time that it has
// reached.
func ReadUntil(ctx context.Context, conn *pgx.Conn, consumer string, shares func(topic string) bool) (p Progress, err error) {
	rows, err := conn.Query(ctx, ledger.ProgressSQL, consumer)
	if err != nil {
		return p, err
	}
	topics := map[string]*topic{}
	var name string
	var id wire.UUID
	var number, parts int32
	var seen *time.Time
	_, err = pgx.ForEachRow(rows, []any{&name, &id, &number, &seen, &parts}, func() error {
		if topics[name] == nil && shares(name) {
			topics[name] = &topic{id: id}
		}
		if t := topics[name]; t != nil && t.id == id {
			t.add(number, seen, parts)
		}
		return nil
	})
	if err == nil && len(topics) == 0 { // nothing is read that could bring a copy
		err = conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&p.Until)
		return p, err
	}
	known := true
	for _, name := range slices.Sorted(maps.Keys(topics)) { // so that the alarm stays the same
		until, number := topics[name].until()
		if !known || !until.IsZero() && !p.Until.IsZero() && !until.Before(p.Until) {
			continue
		}
		p, known = Progress{until, fmt.Sprintf("%s/%d", name, number)}, !until.IsZero()
	}
	return p, err
}

// topic is the partitions of a topic under its present id.
type topic struct {
	id     wire.UUID
	parts  int32
	least  time.Time
	last   int32 // the partition with least
	number map[int32]bool
	unread int32 // a partition whose progress is not known; -1 if there is none
}

func (t *topic) add(number int32, seen *time.Time, parts int32) {
	if t.number == nil {
		t.number, t.unread = map[int32]bool{}, -1
	}
	t.number[number] = true
	t.parts = max(t.parts, parts)
	switch {
	case seen == nil:
		t.unread = number
	case t.least.IsZero() || seen.Before(t.least):
		t.least, t.last = *seen, number
	}
}

// until returns the time that all partitions have reached, and the last of them.
func (t *topic) until() (time.Time, int32) {
	for n := range t.parts {
		if !t.number[n] {
			return time.Time{}, n
		}
	}
	if t.unread >= 0 {
		return time.Time{}, t.unread
	}
	return t.least, t.last
}
