package idem

import (
	"github.com/idemgen/idemgen/runtime/internal/ledger"
	"github.com/idemgen/idemgen/runtime/internal/session"
)

// The statements beside the ledger's own. Their text never varies with data. Each is
// prepared when a connection is opened.
const (
	deadLetterSQL = `
INSERT INTO idem_dead_letter (stream, offs, seq, state, reason, sqlstate, key, fp, record, expires_at)
SELECT $1::int, offs, $2::bigint, 'd', reason, sqlstate, key, fp, record, clock_timestamp() + nullif(keep, 0) * interval '1 microsecond'
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::uuid[], $7::int[], $8::bytea[], $9::bigint[]) AS d (offs, reason, sqlstate, key, fp, record, keep)`

	// overtakeSQL ends the transactions that a backend ($1) waits for and whose clients have
	// stopped: in the middle of sending, or of reading. Only those of this very service that
	// began a while ago, and never one that holds a lock on a relation for which we wait (a
	// migration), or that waits for a standby.
	overtakeSQL = `
SELECT pid, pg_terminate_backend(pid, 1000) FROM pg_stat_activity
WHERE pid = ANY (pg_blocking_pids($1)) AND usename = current_user AND application_name = 'idemgen' AND wait_event IN ('ClientRead', 'ClientWrite')
  AND xact_start < clock_timestamp() - interval '5 seconds'
  AND EXISTS (SELECT FROM pg_locks w WHERE w.pid = $1 AND NOT w.granted AND w.locktype = 'transactionid')`

	commitSQL = `COMMIT`
)

var (
	appendStatement = session.Marked("append", ledger.AppendSQL)
	letterStatement = session.NewStatement("dead_letter", deadLetterSQL)
	chainKeys       = session.Marked("chain_keys", ledger.KeysSQL)
	discardTemp     = session.NewStatement("discard_temp", `DISCARD TEMP`)
	unlock          = session.NewStatement("unlock", `SELECT pg_advisory_unlock_all()`)
	unlisten        = session.NewStatement("unlisten", `UNLISTEN *`)
	closeAll        = session.NewStatement("close", `CLOSE ALL`)
	ownTransaction  = session.NewStatement("own", ledger.OwnSQL)
	shorten         = session.NewStatement("shorten", ledger.ShortenSQL)
	handlerLockWait = session.NewStatement("lock_timeout", `SELECT set_config('lock_timeout', $1::int::text, true)`)
)

// prepared are the runtime's statements, beside those of package generation.
var prepared = []session.Statement{
	appendStatement, letterStatement, chainKeys, session.Reset, session.Give, discardTemp, unlock, unlisten, closeAll, ownTransaction, shorten, handlerLockWait,
}
