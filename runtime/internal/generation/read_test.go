package generation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/internal/generation"
	"github.com/idemgen/idemgen/runtime/internal/rig"
)

// TestProgressIsThatOfTheLastPartition: keys are needed until every partition that can bring a
// copy has been read past their time. A partition without a time, or without a chain, makes it
// unknown; former topics, other consumers and topics that share no keys do not count.
func TestProgressIsThatOfTheLastPartition(t *testing.T) {
	t.Parallel()
	db := idemtest.Migrated(t, rig.RuntimeFiles(t))
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	progress := func(what, last string, want time.Time) {
		t.Helper()
		p, err := generation.ReadUntil(t.Context(), conn.Conn(), "c", func(topic string) bool { return topic != "alone" })
		if err != nil || p.Last != last || !p.Until.Equal(want) {
			t.Errorf("%s: %v at %v, %v; want %s at %v", what, p.Last, p.Until, err, last, want)
		}
	}
	streams := 0
	stream := func(consumer, topic string, id, partition, parts int, seen string) {
		t.Helper()
		streams++
		idemtest.Exec(t, db, fmt.Sprintf(`
INSERT INTO idem_stream (stream, consumer, topic, topic_id, partition, seen_at) OVERRIDING SYSTEM VALUE VALUES (%d, '%s', '%s', '00000000-0000-0000-0000-00000000000%d', %d, %s);
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq) VALUES (%[1]d, 0, gen_random_uuid(), 0, 0, 'g', 'w', -1, 1, %[7]d, 0)`,
			streams, consumer, topic, id, partition, seen, parts))
	}
	at := func(hour int) string { return fmt.Sprintf("'2026-01-02T%d:00:00Z'", hour) }

	p, err := generation.ReadUntil(t.Context(), conn.Conn(), "c", func(string) bool { return true })
	if err != nil || time.Since(p.Until) > time.Hour || time.Until(p.Until) > time.Hour {
		t.Errorf("without chains: %v, %v; want the database's time", p.Until, err)
	}
	stream("other", "a", 1, 0, 1, at(1))
	stream("c", "alone", 1, 0, 1, at(1))
	stream("c", "a", 1, 0, 1, at(2)) // of a topic that was deleted
	stream("c", "a", 2, 0, 2, at(13))
	progress("one of two partitions", "a/1", time.Time{})
	stream("c", "a", 2, 1, 2, at(12))
	progress("both partitions", "a/1", noon)
	stream("c", "b", 3, 0, 1, at(14))
	progress("a topic that is further", "a/1", noon)
	stream("c", "d", 3, 0, 1, at(11))
	progress("a topic that is less far", "d/0", noon.Add(-time.Hour))
	stream("c", "e", 3, 0, 1, "NULL")
	progress("a partition without a time", "e/0", time.Time{})

	idemtest.Exec(t, db, `DELETE FROM idem_stream WHERE topic IN ('b', 'd', 'e')`)
	stream("c", "a", 5, 0, 1, "NULL") // such as an id that was mistyped when it was adopted
	progress("another id", "a/0", time.Time{})
	append := func(topic string, id, partition int) {
		t.Helper()
		idemtest.Exec(t, db, fmt.Sprintf(`
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, writer, epoch, def, parts, window_seq)
SELECT stream, 1, gen_random_uuid(), 0, 0, 'f', 'w', 0, 1, 2, 0 FROM idem_stream WHERE consumer = 'c' AND topic = '%s' AND topic_id = '00000000-0000-0000-0000-00000000000%d' AND partition = %d`,
			topic, id, partition))
	}
	append("a", 2, 0)
	progress("the id before is read again", "a/1", noon)
	idemtest.Exec(t, db, `UPDATE idem_stream SET lost_to = 3 WHERE consumer = 'c' AND topic = 'a'`)
	var behind []string
	rows, err := conn.Query(t.Context(), `SELECT topic || '/' || partition FROM (`+ledger.BehindSQL+`) p`, "c")
	if err == nil {
		behind, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if got := fmt.Sprint(behind, err); got != "[a/0 a/1] <nil>" {
		t.Errorf("behind what was lost: %s", got)
	}
	stream("c", "a", 6, 0, 1, at(15))
	progress("a new topic with fewer partitions", "a/0", noon.Add(3*time.Hour))
	idemtest.Exec(t, db, `ALTER TABLE idem_stream RENAME TO gone`)
	if _, err := generation.ReadUntil(t.Context(), conn.Conn(), "c", func(string) bool { return true }); err == nil {
		t.Error("without the table: no error")
	}
}
