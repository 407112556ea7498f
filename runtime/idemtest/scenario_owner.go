package idemtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/runtime/idem"
)

// takeovers is how often each of several owners takes the partition from the others.
const takeovers = 4

func twoOwners(b *trial) {
	b.inexact = true // a batch that is refused may be found so by several owners
	all := b.messages(b.log)
	owner := func() {
		for range takeovers {
			owners := b.owners()
			for i := range all {
				w, err := owners.tryWriter(partitionOf(all[i]))
				if err != nil {
					b.t.Error(err)
					return
				}
				if err := b.attempt(b.t.Context(), w, all[i:i+1]); isFenced(err) {
					break
				} else if err != nil {
					b.t.Error(err)
					return
				}
			}
		}
	}
	b.atOnce(owner, owner, owner)
	b.apply(all...)
}

func zombie(b *trial) {
	b.inexact = true
	all := b.messages(b.log)
	third := len(all) / 3
	old := b.owners().all()
	old.deliver(all[:third])
	b.owners().all().deliver(all[third : 2*third])
	b.mustBeFenced(old, all[third:])
	b.mustBeFenced(old, all[third:]) // nor the second time
	b.apply(all[2*third:]...)
	b.mustBeFenced(old, all[2*third:])
}

// lostTail brings the database back to an earlier state under a live owner, as a failover
// to a replica that lags does.
func lostTail(b *trial) {
	b.inexact = true
	all := b.messages(b.log)
	half := len(all) / 2
	old := b.owners().all()
	old.deliver(all[:half])
	b.save(b.keptTables())
	old.deliver(all[half:])
	b.restore(b.keptTables())
	endLeases(b) // a lock may have been given back after what was kept: it lasts for its time then
	b.effects.mayCallAllAgain()
	ahead := b.copied(b.log[half], 0, b.end(b.log[half])) // a record after all those that it believes applied
	// If its key is the offset, this copy is an event of its own.
	if r := b.log[half]; r.effect != "" && !r.keyed {
		b.effects.mayCallAgain()
	}
	b.mustBeFenced(old, []idem.Message{ahead})
	b.reached[partitionOf(ahead)] = ahead.Offset

	old = b.owners().all()
	Exec(b.t, b.db, `UPDATE idem_ledger SET token = gen_random_uuid() WHERE (stream, seq) IN (SELECT stream, max(seq) FROM idem_ledger GROUP BY stream)`)
	b.mustBeFenced(old, all[half:]) // same number, same position, another row
	b.apply(all...)
}

// mustBeFenced fails unless the owner of each partition is refused and nothing of its batch is
// left.
func (b *trial) mustBeFenced(o owners, records []idem.Message) {
	b.t.Helper()
	before := b.dump()
	tried := map[partition]bool{}
	for _, m := range records {
		p := partitionOf(m)
		if tried[p] {
			continue
		}
		tried[p] = true
		of := slices.DeleteFunc(slices.Clone(records), func(m idem.Message) bool { return partitionOf(m) != p })
		b.leavesNothing(b.recordsOf(of), func() {
			if _, err := o.writer(p).Apply(b.effects.in(b.t.Context()), packedAll(b, of)); !isFenced(err) {
				b.t.Errorf("an owner that lost its partition must be rejected, got %v", err)
			}
		})
	}
	after := b.dump()
	if d := b.diffShown(before.lines(), after.lines(), before, after); d != "" {
		b.t.Errorf("a rejected owner left changes behind:\n%s", d)
	}
}

func isFenced(err error) bool {
	_, ok := errors.AsType[*idem.FencedError](err)
	return ok
}

// kept are the tables of the runtime that a failover takes back. Streams and generations
// are written when a partition or a consumer is first seen, long before.
var kept = []comparedTable{{Name: "idem_ledger"}, {Name: "idem_keys"}, {Name: "idem_dead_letter"}, {Name: "idem_lease"}}

// save copies tables.
func (d database) save(tables []comparedTable) {
	d.t.Helper()
	for _, t := range tables {
		Exec(d.t, d.db, fmt.Sprintf("CREATE TABLE %s AS TABLE %s", savedName(t), t.sql()))
	}
}

// restore brings back what save saved, foreign keys and triggers aside. Generated columns fill
// themselves.
func (d database) restore(tables []comparedTable) {
	d.t.Helper()
	err := pgx.BeginFunc(d.t.Context(), d.db, func(tx pgx.Tx) error {
		statements := []string{"SET LOCAL session_replication_role = replica"}
		for _, t := range tables {
			var columns string
			if err := tx.QueryRow(d.t.Context(), storedColumns, t.sql()).Scan(&columns); err != nil {
				return err
			}
			statements = append(statements, "DELETE FROM "+t.sql(),
				fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %[2]s FROM %s", t.sql(), columns, savedName(t)))
		}
		_, err := tx.Exec(context.WithoutCancel(d.t.Context()), strings.Join(statements, ";\n"))
		return err
	})
	if err != nil {
		d.t.Fatalf("idemtest: go back to an earlier state: %v", err)
	}
}

const storedColumns = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
	WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`

// keptTables are the tables that a failover takes back: the runtime's, and those of the service.
func (b *trial) keptTables() []comparedTable {
	own := slices.DeleteFunc(slices.Clone(kept), func(t comparedTable) bool { return !b.has(t.Name) })
	return slices.Concat(own, b.tables)
}

func savedName(t comparedTable) string { return pgx.Identifier{"idemtest_saved_" + t.Name}.Sanitize() }
