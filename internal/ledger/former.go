package ledger

// A topic that is deleted and created again has another id, and streams of its own. Of the streams
// of one partition, all but the one that was written to last are former ones. The number of a
// stream does not say that: a topic may be moved to another cluster and back, and a topic id that
// was mistyped when it was adopted is not the present one.
const (
	// isFormerSQL reports whether a stream of lastRowsSQL is a former one.
	isFormerSQL = `row_number() OVER (PARTITION BY s.consumer, s.topic, s.partition ORDER BY t.written_at DESC NULLS LAST, s.stream DESC) > 1`

	// lastRowsSQL is the streams s, each with the last row t of its chain; NULL if its rows are gone.
	lastRowsSQL = `idem_stream s
LEFT JOIN LATERAL (SELECT * FROM idem_ledger l WHERE l.stream = s.stream ORDER BY l.seq DESC LIMIT 1) t ON true`

	// markedSQL is the streams, with whether each is a former one.
	markedSQL = `
    SELECT s.stream, s.consumer, s.topic, s.topic_id, s.partition, s.seen_at, s.lost_to, t.next, t.parts, ` + isFormerSQL + ` AS former
    FROM ` + lastRowsSQL + `
`

	// BehindSQL lists the partitions of a consumer whose position has not passed again what was
	// found to be gone, of the present topics.
	BehindSQL = `
SELECT topic, partition FROM (` + markedSQL + `) s
WHERE consumer = $1 AND NOT former AND lost_to > next ORDER BY topic, partition`

	// ProgressSQL reads the time up to which each partition of a consumer has been read, NULL if
	// that is not known, and how many partitions its topic has; 0 if that is not known. It leaves
	// former streams out. If the present topic lacks a partition number, or has no chain for it yet,
	// the previous topic's partition of that number is not a former one.
	ProgressSQL = `
SELECT topic, topic_id, partition, seen_at, coalesce(parts, 0) FROM (` + markedSQL + `) s
WHERE consumer = $1 AND NOT former ORDER BY topic, partition`
)
