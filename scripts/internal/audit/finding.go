package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/runtime/wire"
)

// Kind is what is wrong.
type Kind string

// What can be wrong.
const (
	Lost      Kind = "lost"      // an effect, row, key or dead letter that must be there is not
	Doubled   Kind = "doubled"   // one that is there must not be, or not twice
	Reordered Kind = "reordered" // effects on one order came in another order than their events
	Altered   Kind = "altered"   // a row has another value, and no effect on its order explains it
	Broken    Kind = "broken"    // a chain of the ledger breaks its rules
	Stuck     Kind = "stuck"     // a partition does not reach the end of its log
)

// Finding is one thing that is wrong.
type Finding struct {
	Kind Kind
	What string
}

func (f Finding) String() string { return string(f.Kind) + ": " + f.What }

// Count counts the findings of a kind.
func Count(all []Finding, k Kind) int {
	n := 0
	for _, f := range all {
		if f.Kind == k {
			n++
		}
	}
	return n
}

// Audit compares the database with the part of the log that its ledger has passed, all in
// one snapshot, so that it is right at any time, whoever works meanwhile. The database needs
// [JournalSQL]. Copies of one event in two partitions must not be under way.
func Audit(ctx context.Context, service *model.Service, paid Handler, db *pgx.Conn, log []*wire.Message) ([]Finding, error) {
	return NewAuditor(service, paid).Audit(ctx, db, log)
}

// Auditor audits a log that grows, again and again. The ledger may only go forward between
// two audits.
type Auditor struct {
	replay *Replay
	ahead  []*wire.Message // of those seen, what the ledger had not passed
	seen   int             // of the log
	effects
	decisions
}

// NewAuditor returns an auditor of an empty log.
func NewAuditor(service *model.Service, paid Handler) *Auditor {
	return &Auditor{replay: NewReplay(service, paid), effects: newEffects(), decisions: decisions{replayed: map[Place]bool{}}}
}

// Audit is the function of that name; log begins with the one of the audit before.
func (a *Auditor) Audit(ctx context.Context, db *pgx.Conn, log []*wire.Message) (all []Finding, err error) {
	err = pgx.BeginTxFunc(ctx, db, snapshot, func(tx pgx.Tx) error {
		if err := a.advance(ctx, tx, log); err != nil {
			return err
		}
		decided, err := a.carriedOut(ctx, tx, a.replay)
		if err != nil {
			return err
		}
		all, err = a.replay.compare(ctx, tx)
		all = append(all, decided...)
		return err
	})
	return all, err
}

// snapshot is a transaction in which progress and effects are of one moment.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// advance replays the records that the ledger has passed since the last time.
func (a *Auditor) advance(ctx context.Context, db Querier, log []*wire.Message) error {
	passed, err := Passed(ctx, db)
	if err != nil {
		return err
	}
	var ahead []*wire.Message
	for _, m := range slices.Concat(a.ahead, log[a.seen:]) {
		if m.Offset < passed[m.Partition] {
			a.replay.Apply(m)
		} else {
			ahead = append(ahead, m)
		}
	}
	a.ahead, a.seen = ahead, len(log)
	return nil
}

func (r *Replay) compare(ctx context.Context, db Querier) ([]Finding, error) {
	broken, err := Chains(ctx, db)
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, b := range broken {
		all = append(all, Finding{Broken, b})
	}
	happened, err := journal(ctx, db)
	if err != nil {
		return nil, err
	}
	effects := r.compareJournal(happened)
	all = append(all, effects...)
	tables, err := r.Tables(ctx, db)
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		all = append(all, r.compareRows(r.service.Tables[i], t, len(effects) > 0)...)
	}
	letters, err := r.compareLetters(ctx, db)
	if err != nil {
		return nil, err
	}
	all = append(all, letters...)
	keys, err := r.compareKeys(ctx, db)
	return append(all, keys...), err
}

// compareRows tells rows that are missing, or too many, from rows with another value; the
// journal may have explained the latter already.
func (r *Replay) compareRows(def *model.Table, t Table, explained bool) []Finding {
	var all []Finding
	var lost []string
	for _, line := range t.Missing {
		lost = append(lost, identity(def, line))
	}
	for _, line := range t.Extra {
		id := identity(def, line)
		i := slices.Index(lost, id)
		switch {
		case i < 0:
			all = append(all, Finding{Doubled, t.Name + ": " + id})
			continue
		case !explained:
			all = append(all, Finding{Altered, t.Name + ": " + id})
		}
		lost = slices.Delete(lost, i, i+1)
	}
	for _, id := range lost {
		all = append(all, Finding{Lost, t.Name + ": " + id})
	}
	return all
}

// compareLetters finds dead letters that are lost or doubled.
func (r *Replay) compareLetters(ctx context.Context, db Querier) (all []Finding, err error) {
	missing, extra, err := r.Letters(ctx, db)
	for _, l := range missing {
		all = append(all, Finding{Lost, "dead letter " + l})
	}
	for _, l := range extra {
		all = append(all, Finding{Doubled, "dead letter " + l})
	}
	return all, err
}

// compareKeys counts the keys: one for each event that took effect and has one.
func (r *Replay) compareKeys(ctx context.Context, db Querier) ([]Finding, error) {
	var n, distinct int
	if err := db.QueryRow(ctx, `SELECT count(*), count(DISTINCT key) FROM idem_keys`).Scan(&n, &distinct); err != nil {
		return nil, err
	}
	var all []Finding
	if n != distinct {
		all = append(all, Finding{Doubled, fmt.Sprintf("%d keys are claimed more than once", n-distinct)})
	}
	switch {
	case distinct < r.keyed:
		all = append(all, Finding{Lost, fmt.Sprintf("%d of %d keys are not claimed", r.keyed-distinct, r.keyed)})
	case distinct > r.keyed:
		all = append(all, Finding{Doubled, fmt.Sprintf("%d keys are claimed, %d events with a key took effect", distinct, r.keyed)})
	}
	return all, nil
}

// Unread names the partitions whose log the ledger has not passed to the end.
func Unread(passed, ends map[int32]int64) []Finding {
	var all []Finding
	for p, end := range ends {
		if passed[p] < end {
			all = append(all, Finding{Stuck, fmt.Sprintf("partition %d at %d of %d", p, passed[p], end)})
		}
	}
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Compare(a.What, b.What) })
	return all
}
