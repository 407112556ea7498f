package keys_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/keys"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// How far a partition was read is recorded by the owner whose tail is in the chain, once that is
// known: by a record of this process or of another one, and while the clocks agree.
func TestProgressIsRecorded(t *testing.T) {
	t.Parallel()
	db := rig.Database(t)
	rig.Apply(t, ownChain(t, db), rig.Records(0, "@a: put 1 1"))
	conn := prepared(t, db)
	var tail ledger.Tail
	var stream int32
	rig.Do(t, func() error {
		return conn.QueryRow(t.Context(), `SELECT stream, seq, token FROM idem_ledger ORDER BY seq DESC LIMIT 1`).
			Scan(&stream, &tail.Seq, &tail.Token)
	})
	idemtest.Exec(t, db, `UPDATE idem_stream SET seen_at = NULL`) // the owner has recorded it, too
	seen := time.Now()
	memory := func(now func() time.Time) (*keys.Memory, *keys.Process) {
		process := &keys.Process{Consumer: "test", Now: now, Log: slog.New(slog.DiscardHandler)}
		topic := &wire.Topic{Window: time.Hour}
		return keys.New(process, idemtype.Partition{}, topic, func() time.Time { return seen }), process
	}
	keep := func(m *keys.Memory, tail ledger.Tail, want string) {
		t.Helper()
		rig.Do(t, func() error { return m.Keep(t.Context(), conn, stream, tail) })
		const sql = `SELECT coalesce(round(extract(epoch FROM now() - seen_at) / 60)::text, 'never') FROM idem_stream`
		got := rig.Query(t, db, sql)
		rig.Want(t, "minutes since what was read", got, want)
		rig.Want(t, "it is due again", m.KeepDue(), false)
	}
	m, process := memory(time.Now)
	keep(m, tail, "never")
	process.Times.Note(&wire.Message{Time: time.Now().Add(-50 * time.Minute)})
	rig.Want(t, "due with the first record", m.KeepDue(), true)
	keep(m, tail, "50")
	process.Times.Note(&wire.Message{Time: time.Now()})
	keep(m, tail, "50") // it is not due

	m, process = memory(func() time.Time { return time.Now().Add(time.Hour) })
	process.Times.Note(&wire.Message{Time: time.Now()})
	keep(m, tail, "50") // the clocks differ
	m, process = memory(time.Now)
	process.Times.Note(&wire.Message{Time: time.Now()})
	keep(m, ledger.Tail{Seq: tail.Seq}, "50") // the tail is gone
	m, _ = memory(time.Now)
	rig.Query(t, db, `WITH other AS (INSERT INTO idem_stream (consumer, topic, topic_id, partition, seen_at)
SELECT consumer, topic, topic_id, 9, now() - interval '20 minutes' FROM idem_stream RETURNING 1) SELECT '' FROM other`)
	rig.Do(t, func() error { return m.Keep(t.Context(), conn, stream, tail) })
	rig.Want(t, "minutes, by another process's record", rig.Query(t, db,
		`SELECT round(extract(epoch FROM now() - seen_at) / 60)::text FROM idem_stream WHERE partition = 0`), "20")
}
