package operate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Calls are the calls of effects that are not done, as far as leases are kept in this database. An
// interrupted call, or one that is not repeated, is not among them: the letter of its event is.
type Calls struct {
	Here    bool       // leases are kept in this database
	Running int        // each number is at most 1,001
	Failing int        // the last call failed, and another one follows
	Oldest  []OpenCall // the 50 longest of each, failing ones first
}

// OpenCall is a call that is not done.
type OpenCall struct {
	Call
	Consumer string    `json:"consumer"`
	Key      string    `json:"key"`     // 32 hex digits, as Delivery.Key
	Holder   string    `json:"holder"`  // the process that called last
	Until    time.Time `json:"until"`   // of processing: when the lease ends unless it is extended; of failed: when the next call begins
	Overdue  bool      `json:"overdue"` // Until has passed
}

const (
	callCountsSQL = `
SELECT (SELECT count(*) FROM (SELECT FROM idem_lease WHERE ($1::text = '' OR consumer = $1::text) AND state = 'p' LIMIT 1001) c),
    (SELECT count(*) FROM (SELECT FROM idem_lease WHERE ($1::text = '' OR consumer = $1::text) AND state = 'f' AND term > '0' AND expires_at > clock_timestamp() - interval '1 minute' LIMIT 1001) c)`

	openCallsSQL = `
SELECT c.* FROM unnest('{f,p}'::"char"[]) WITH ORDINALITY AS s (state, n), LATERAL (
    SELECT l.consumer, replace(l.key::text, '-', ''), l.state, l.attempts, l.changed_at, coalesce(substring(l.error FROM 1 FOR 1000), ''), coalesce(l.holder, ''), l.expires_at, l.expires_at < clock_timestamp()
    FROM idem_lease l WHERE ($1::text = '' OR l.consumer = $1::text) AND l.state = s.state AND l.state IN ('p', 'f') AND (l.state = 'p' OR l.term > '0' AND l.expires_at > clock_timestamp() - interval '1 minute')
    ORDER BY l.changed_at LIMIT 50) c
ORDER BY s.n`
)

// CallsOf returns the calls that are not done, of a consumer, or of all consumers if it is "".
func CallsOf(ctx context.Context, db DB, consumer string) (c Calls, err error) {
	if c.Here, err = has(ctx, db, "idem_lease"); err != nil || !c.Here {
		return c, err
	}
	if _, err = one(ctx, db, []any{&c.Running, &c.Failing}, callCountsSQL, consumer); err != nil {
		return c, err
	}
	c.Oldest, err = query(ctx, db, func(row pgx.CollectableRow) (o OpenCall, err error) {
		var state byte
		err = row.Scan(&o.Consumer, &o.Key, &state, &o.Attempts, &o.ChangedAt, &o.Error, &o.Holder, &o.Until, &o.Overdue)
		o.State, o.ChangedAt, o.Until = callStates[state], o.ChangedAt.UTC(), o.Until.UTC()
		return o, err
	}, openCallsSQL, consumer)
	return c, err
}
