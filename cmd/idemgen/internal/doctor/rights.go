package doctor

import (
	"context"
	"slices"

	"github.com/idemgen/idemgen/internal/pgtable"
)

// handlerRights adds the rights to a table that no step needs, and perhaps a handler: the spec
// does not have the statements of handlers.
func (e *examination) handlerRights(ctx context.Context, of *pgtable.Want) error {
	rights := slices.DeleteFunc([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, func(r string) bool { return slices.Contains(of.Rights, r) })
	lacks, err := pgtable.Lacks(ctx, e.Database, of.SQL, rights)
	if lacks != nil {
		e.add(Warning, "tables", lacks.Advice+", or what handlers need of it", "%s, and a handler might", lacks.Text)
	}
	return err
}

// relayRights adds the rights that a relay needs and this role lacks, and reports whether there
// are some. Where Debezium sends the events, no relay runs.
func (e *examination) relayRights(ctx context.Context) (lack bool, err error) {
	var debezium bool
	err = e.Database.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass('idem_outbox') AND tgname = 'idem_outbox_empty')`).Scan(&debezium)
	if err != nil || debezium {
		return false, err
	}
	found, err := pgtable.Needs(ctx, e.Database, "", []string{pgtable.Relay})
	lacks := pgtable.Join(found)
	if lacks != nil {
		e.add(Warning, "outbox", lacks.Advice+", unless relays run as another role", "%s, and a relay must", lacks.Text)
	}
	return lacks != nil, err
}
