package main

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// tables is what idemgen's tables of the run take, in bytes, without the maps of free space.
type tables struct {
	ledgerRows, ledgerHeap, ledgerIndex, ledgerKeys int64 // keys out of line
	keyRows, keyHeap, keyIndex                      int64
}

func (t tables) ledger() int64 { return t.ledgerHeap + t.ledgerIndex + t.ledgerKeys }
func (t tables) all() int64    { return t.ledger() + t.keyHeap + t.keyIndex }

const tablesSQL = `
SELECT (SELECT count(*) FROM idem_ledger), pg_relation_size('idem_ledger'), pg_indexes_size('idem_ledger'),
	(SELECT pg_relation_size(reltoastrelid) + pg_indexes_size(reltoastrelid) FROM pg_class WHERE oid = 'idem_ledger'::regclass),
	(SELECT count(*) FROM idem_keys), coalesce(sum(pg_relation_size(inhrelid)), 0)::bigint, coalesce(sum(pg_indexes_size(inhrelid)), 0)::bigint
FROM pg_inherits WHERE inhparent = 'idem_keys'::regclass`

func readTables(ctx context.Context, conn *pgx.Conn) (t tables, err error) {
	err = conn.QueryRow(ctx, tablesSQL).Scan(&t.ledgerRows, &t.ledgerHeap, &t.ledgerIndex, &t.ledgerKeys, &t.keyRows, &t.keyHeap, &t.keyIndex)
	return t, err
}

// work is what statements of one kind did, by pg_stat_statements.
type work struct {
	calls         int64
	took          time.Duration
	wal, images   int64 // bytes of WAL, and pages that are in it as a whole
	rows, records int64
}

// kinds are statements by a text that only they have.
var kinds = map[string]string{
	"INSERT INTO idem_ledger": "append", "INSERT INTO idem_keys": "claim", "UPDATE places": "own",
	"DELETE FROM idem_ledger": "trim", "idem_keys_seal": "seal", "idem_keys_forget": "forget", "VACUUM": "vacuum",
}

// tally counts what is done from now on.
type tally struct {
	conn *pgx.Conn
	from string // where the WAL was
}

func startTally(ctx context.Context, conn *pgx.Conn) (*tally, error) {
	t := &tally{conn: conn}
	return t, conn.QueryRow(ctx, `SELECT pg_current_wal_insert_lsn()::text FROM pg_stat_statements_reset()`).Scan(&t.from)
}

// read is the work by kind, and all WAL under "all": that of commits, too.
func (t *tally) read(ctx context.Context) (map[string]work, error) {
	all := map[string]work{}
	var wal int64
	if err := t.conn.QueryRow(ctx, `SELECT (pg_current_wal_insert_lsn() - $1::pg_lsn)::bigint`, t.from).Scan(&wal); err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, `SELECT query, calls, total_exec_time, wal_bytes::bigint, wal_fpi, rows, wal_records FROM pg_stat_statements`)
	if err != nil {
		return nil, err
	}
	var query string
	var w work
	var ms float64
	_, err = pgx.ForEachRow(rows, []any{&query, &w.calls, &ms, &w.wal, &w.images, &w.rows, &w.records}, func() error {
		for text, kind := range kinds {
			if strings.Contains(query, text) {
				s := all[kind]
				all[kind] = work{
					s.calls + w.calls, s.took + time.Duration(ms*float64(time.Millisecond)), s.wal + w.wal, s.images + w.images,
					s.rows + w.rows, s.records + w.records,
				}
				break
			}
		}
		return nil
	})
	all["all"] = work{wal: wal}
	return all, err
}

// heap is the live memory of this process.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }
