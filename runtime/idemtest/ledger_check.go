package idemtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// ledgerRules are queries that find what must not be; each row is one fault.
var ledgerRules = []rule{
	{"a row of the ledger does not follow its predecessor", `
SELECT format('stream %s seq %s', l.stream, l.seq) FROM idem_ledger l
WHERE l.seq > (SELECT min(f.seq) FROM idem_ledger f WHERE f.stream = l.stream)
  AND NOT EXISTS (SELECT FROM idem_ledger p WHERE p.stream = l.stream AND p.seq = l.seq - 1 AND p.next = l.prev)`},
	{"a worker appended after a pause", `
SELECT format('stream %s seq %s', l.stream, l.seq) FROM idem_ledger l JOIN idem_ledger p ON p.stream = l.stream AND p.seq = l.seq - 1 WHERE p.kind = 'p' AND l.writer <> 'o'`},
	{"a stream has no ledger", `
SELECT format('stream %s', s.stream) FROM idem_stream s WHERE NOT EXISTS (SELECT FROM idem_ledger l WHERE l.stream = s.stream)`},
	{"a stream has several first rows", `
SELECT format('stream %s', stream) FROM idem_ledger WHERE kind = 'g' GROUP BY stream HAVING count(*) > 1`},
	{"a record has several dead letters", `
SELECT format('stream %s offset %s', stream, offs) FROM idem_dead_letter GROUP BY stream, offs HAVING count(*) > 1`},
	{"a dead letter is not in the row of the ledger that passed its record", `
SELECT format('stream %s offset %s seq %s', d.stream, d.offs, d.seq) FROM idem_dead_letter d
WHERE NOT EXISTS (SELECT FROM idem_ledger l WHERE l.stream = d.stream AND l.seq = d.seq AND l.kind = 'b' AND d.offs >= l.prev AND d.offs < l.next)`},
	{"a key of the chain is claimed again within its window", `
WITH k AS (
    SELECT l.stream, l.seq, p.window_seq, substr(l.keys, 1 + 20 * n, 16) AS key
    FROM idem_ledger l JOIN idem_ledger p ON p.stream = l.stream AND p.seq = l.seq - 1, generate_series(0, octet_length(l.keys) / 20 - 1) n
)
SELECT format('stream %s rows %s and %s', a.stream, a.seq, b.seq) FROM k a JOIN k b ON b.stream = a.stream AND b.key = a.key AND b.seq > a.seq AND a.seq >= b.window_seq
UNION ALL
SELECT format('stream %s row %s', stream, seq) FROM k GROUP BY stream, seq, key HAVING count(*) > 1`},
	{"a window moves backward", `
SELECT format('stream %s seq %s', l.stream, l.seq) FROM idem_ledger l JOIN idem_ledger p ON p.stream = l.stream AND p.seq = l.seq - 1 WHERE l.window_seq < p.window_seq`},
	{"idem_assert holds a row", `SELECT what FROM idem_assert`},
	{"idem_step_refused holds a row", `SELECT reason FROM idem_step_refused`},
}

// keyRules are those of the keys that all partitions share.
var keyRules = []rule{
	{"a key is claimed twice", `
SELECT key::text FROM idem_keys GROUP BY key HAVING count(*) > 1`},
	{"a key is claimed in a row that is not there", `
SELECT format('%s in stream %s seq %s', k.key, k.stream, k.seq) FROM idem_keys k
WHERE NOT EXISTS (SELECT FROM idem_ledger l WHERE l.stream = k.stream AND l.seq = k.seq AND l.kind IN ('b', 'l'))`},
}

type rule struct{ what, sql string }

// ledgerFaults checks the ledger: whole chains, one dead letter per refused record, and
// the position after the last record of each partition.
func (b *trial) ledgerFaults() (faults []string) {
	b.t.Helper()
	rules := ledgerRules
	if b.has("idem_keys") {
		rules = slices.Concat(rules, keyRules)
	}
	for _, rule := range rules {
		for _, where := range b.texts(rule.sql) {
			faults = append(faults, rule.what+": "+where)
		}
	}
	inOrder := func(p, q partition) int {
		return cmp.Or(cmp.Compare(p.topic, q.topic), cmp.Compare(p.number, q.number))
	}
	for _, p := range slices.SortedFunc(maps.Keys(b.reached), inOrder) {
		want := fmt.Sprint(b.reached[p])
		got := b.texts(`
SELECT l.next::text FROM idem_ledger l JOIN idem_stream s USING (stream)
WHERE s.topic = $1 AND s.partition = $2 ORDER BY l.seq DESC LIMIT 1`, p.topic, p.number)
		if len(got) != 1 || got[0] != want {
			faults = append(faults, fmt.Sprintf("partition %d of %s: the position is %v, want %s", p.number, p.topic, got, want))
		}
	}
	return faults
}

// has reports whether a table of the runtime is there: a service has those that it needs.
func (d database) has(table string) bool {
	d.t.Helper()
	return len(d.texts(`SELECT to_regclass($1)::text WHERE to_regclass($1) IS NOT NULL`, table)) > 0
}

func (d database) texts(sql string, args ...any) []string {
	d.t.Helper()
	list, err := d.db.Query(d.t.Context(), sql, args...)
	if err != nil {
		d.t.Fatalf("idemtest: check the ledger: %v", err)
	}
	texts, err := pgx.CollectRows(list, pgx.RowTo[string])
	if err != nil {
		d.t.Fatalf("idemtest: check the ledger: %v", err)
	}
	return texts
}
