package pgtable

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// needsSQL is what a role may not do of what a service, an operator or a relay does to the
// runtime's tables. Of a right to some columns any one does. It locks no table.
const needsSQL = `
WITH needs (part, name, kind, rights) AS (VALUES
    ('core', 'idem_stream', 't', 'SELECT INSERT'), ('core', 'idem_ledger', 't', 'SELECT INSERT UPDATE DELETE'),
    ('core', 'idem_operator', 't', 'SELECT INSERT DELETE'), ('core', 'idem_dead_letter', 't', 'SELECT INSERT UPDATE DELETE'),
    ('core', 'idem_process', 't', 'SELECT INSERT UPDATE DELETE'), ('core', 'idem_step_refused', 't', 'INSERT'), ('core', 'idem_assert', 't', 'INSERT'),
    ('keys', 'idem_key_gen', 't', 'SELECT'), ('keys', 'idem_keys', 't', 'SELECT INSERT DELETE'),
    ('effects', 'idem_lease', 't', 'SELECT INSERT UPDATE DELETE'), ('effects', 'idem_fence', 's', 'USAGE'),
    ('relay', 'idem_outbox', 't', 'SELECT UPDATE DELETE'),
    ('operator', 'idem_stream', 't', 'SELECT INSERT'), ('operator', 'idem_ledger', 't', 'SELECT INSERT DELETE'), ('operator', 'idem_operator', 't', 'SELECT'),
    ('operator', 'idem_dead_letter', 't', 'SELECT UPDATE'), ('operator', 'idem_process', 't', 'SELECT'), ('operator', 'idem_fence', 's', 'USAGE')
)
SELECT o.role::text, n.name, n.kind = 's', string_agg(r, ', ' ORDER BY at)
FROM needs n, (SELECT coalesce(nullif($2::text, ''), current_user::text)::name AS role) o CROSS JOIN LATERAL (SELECT to_regclass(n.name) AS oid) c
CROSS JOIN LATERAL unnest(string_to_array(n.rights, ' ')) WITH ORDINALITY AS u (r, at)
WHERE n.part = ANY ($1::text[]) AND c.oid IS NOT NULL AND NOT CASE
    WHEN n.kind = 's' THEN has_sequence_privilege(o.role, c.oid, r)
    WHEN r = 'DELETE' THEN has_table_privilege(o.role, c.oid, r)
    ELSE has_any_column_privilege(o.role, c.oid, r) END
GROUP BY o.role, n.name, n.kind ORDER BY n.name`

// The parts of an operator's role, and of a relay's.
const (
	Operator = "operator"
	Relay    = "relay"
)

// Needs says which rights to parts of the runtime's tables a role lacks; "" is the session's role.
func Needs(ctx context.Context, db Querier, role string, parts []string) (found []Difference, err error) {
	rows, _ := db.Query(ctx, needsSQL, pgx.QueryExecModeExec, parts, role)
	var name, rights string
	var sequence bool
	_, err = pgx.ForEachRow(rows, []any{&role, &name, &sequence, &rights}, func() error {
		on := name
		if sequence {
			on = "SEQUENCE " + name
		}
		found = append(found, Difference{
			Text:   fmt.Sprintf("role %s may not %s %s", role, rights, name),
			Advice: fmt.Sprintf("GRANT %s ON %s TO %s", rights, on, quoted(role)),
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the rights to the runtime's tables: %w", err)
	}
	return found, nil
}

// Join makes one difference of several; nil of none.
func Join(found []Difference) *Difference {
	if len(found) == 0 {
		return nil
	}
	var texts, advice []string
	for _, d := range found {
		texts, advice = append(texts, d.Text), append(advice, d.Advice)
	}
	return &Difference{Text: strings.Join(texts, "; "), Advice: strings.Join(advice, "; ")}
}
