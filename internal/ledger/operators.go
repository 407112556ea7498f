package ledger

// What operators' commands read and write besides the append.
const (
	// ListSQL is every stream with its last row, its open dead letters, at most 1,001, and its
	// last row of an operator, which is searched among the newest rows only, a chain may hold
	// millions, and then among those that were moved. The same rows tell since when the position
	// has not moved; if all of them left it, the oldest does. The columns of the last row are NULL
	// if the rows are gone.
	ListSQL = `
SELECT s.stream, s.consumer, s.topic, s.topic_id::text, s.partition,
       ` + isFormerSQL + `,
       s.created_at, t.seq, t.next, t.epoch, t.kind::text, t.written_at,
       extract(epoch FROM clock_timestamp() - t.written_at)::float8, t.parts, t.def, t.seq - t.window_seq + 1, coalesce(t.info, ''), coalesce(t.letters, 0), coalesce(t.letters_from, 0),
       (SELECT count(*) FROM (SELECT FROM idem_dead_letter d WHERE d.stream = s.stream AND d.state IN ('d', 'w') LIMIT 1001) n),
       o.seq, o.kind::text, o.written_at, coalesce(o.info, ''), o.prev, o.next,
       extract(epoch FROM clock_timestamp() - coalesce(
         (SELECT written_at FROM idem_ledger l WHERE l.stream = s.stream AND l.seq > t.seq - 10000 AND l.next <> l.prev ORDER BY l.seq DESC LIMIT 1),
         (SELECT written_at FROM idem_ledger l WHERE l.stream = s.stream AND l.seq > t.seq - 10000 ORDER BY l.seq LIMIT 1)))::float8,
       s.lost_at, coalesce(s.lost_from, 0), coalesce(s.lost_to, 0)
FROM ` + lastRowsSQL + `
LEFT JOIN LATERAL (
  (SELECT seq, kind, written_at, info, prev, next FROM idem_ledger l
  WHERE l.stream = s.stream AND l.seq > t.seq - 10000 AND l.kind <> 'b' AND (l.kind = 'l' OR l.writer = 'o')
  ORDER BY l.seq DESC LIMIT 1)
  UNION ALL
  (SELECT seq, kind, written_at, info, prev, next FROM idem_operator l WHERE l.stream = s.stream ORDER BY l.seq DESC LIMIT 1)
  ORDER BY seq DESC LIMIT 1) o ON true
ORDER BY s.consumer, s.topic, s.partition, s.stream`

	// FormersSQL is the streams of former topics.
	FormersSQL = `SELECT stream FROM (` + markedSQL + `) s WHERE former`

	// LockSQL ends when no append is under way in any stream, and lets none begin before the
	// transaction ends.
	LockSQL = `LOCK TABLE idem_ledger IN SHARE ROW EXCLUSIVE MODE`

	// LastSeqSQL is the highest row that anything but the chain still names.
	LastSeqSQL = `
SELECT greatest((SELECT max(seq) FROM idem_keys WHERE stream = $1::int), (SELECT max(seq) FROM idem_dead_letter WHERE stream = $1::int),
       (SELECT max(seq) FROM idem_operator WHERE stream = $1::int), -1)`

	// FormerSQL reads the time after the last rows of the chains of the same partition of other
	// topics of this name; NULL if there are none.
	FormerSQL = `
SELECT max(t.written_at) + interval '1 microsecond'
FROM idem_stream own JOIN idem_stream f USING (consumer, topic, partition)
CROSS JOIN LATERAL (SELECT written_at FROM idem_ledger l WHERE l.stream = f.stream ORDER BY seq DESC LIMIT 1) t
WHERE own.stream = $1 AND f.stream <> own.stream`

	// RenewSQL is the first row of a stream whose rows are gone. It must come after every row
	// that keys or dead letters name: a worker takes a key of a row after its tail for one of
	// an append of its own. It needs LockSQL before it, in the same transaction.
	RenewSQL = `
INSERT INTO idem_ledger (stream, seq, token, prev, next, kind, epoch, def, parts, window_seq, info, writer, written_at)
SELECT $1::int, $2::bigint, $3::uuid, $4::bigint, $4::bigint, 'g', -1, $5::int, $6::int, $2::bigint, $7::text, 'o', greatest(clock_timestamp(), $8::timestamptz)
WHERE NOT EXISTS (SELECT FROM idem_ledger WHERE stream = $1::int)`
)

// Fields are where the columns of [TailSQL] go.
func (t *Tail) Fields() []any {
	return []any{&t.Seq, &t.Token, &t.Next, &t.Kind, &t.Epoch, &t.Def, &t.Parts, &t.Window, &t.Written, &t.Writer, &t.Letters.N, &t.Letters.First, &t.Info}
}
