package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/scripts/internal/audit"
	"github.com/idemgen/idemgen/scripts/internal/shop"
)

// report is what the audit found: what the replay expects, and what the database says.
type report struct {
	causes  map[shop.Cause]int // duplicates by cause
	want    counts
	got     counts
	tables  []audit.Table
	letters struct{ missing, extra []string }
	broken  []string // chains with a gap
}

// counts are the records by what became of them.
type counts struct{ records, applied, duplicates, conflicts, dead, keyless int }

// newReport replays the log by the oracle, which reads the spec and shares no code with the
// runtime or the generated service, and compares every row and every dead letter.
func newReport(ctx context.Context, db *pgxpool.Pool, log []shop.Entry) (*report, error) {
	service, err := audit.ReadSpec(example)
	if err != nil {
		return nil, err
	}
	replay := audit.NewReplay(service, audit.AddPayment)
	r := &report{causes: map[shop.Cause]int{}}
	for _, e := range log {
		r.count(e, replay.Apply(e.Message))
	}
	if r.tables, err = replay.Tables(ctx, db); err != nil {
		return nil, err
	}
	if r.broken, err = audit.Chains(ctx, db); err != nil {
		return nil, err
	}
	if r.letters.missing, r.letters.extra, err = replay.Letters(ctx, db); err != nil {
		return nil, err
	}
	return r, r.readLedger(ctx, db)
}

func (r *report) count(e shop.Entry, out oracle.Outcome) {
	r.want.records++
	switch out.Kind {
	case oracle.Applied:
		r.want.applied++
		if out.Key == "" {
			r.want.keyless++
		}
	case oracle.Duplicate:
		r.want.duplicates++
		r.causes[e.Cause]++
	case oracle.Conflict:
		r.want.conflicts++
	default:
		r.want.dead++
	}
}

// readLedger takes the same figures from the database alone: offsets passed, keys
// claimed, dead letters. Events identified by their offset leave no trace of their own there;
// the replay says how many they are.
func (r *report) readLedger(ctx context.Context, db *pgxpool.Pool) error {
	g := &r.got
	g.keyless = r.want.keyless
	err := db.QueryRow(ctx, `
SELECT (SELECT coalesce(sum(next), 0) FROM (SELECT max(next) AS next FROM idem_ledger GROUP BY stream) AS t),
       (SELECT count(*) FROM idem_keys),
       (SELECT count(*) FROM idem_dead_letter WHERE reason LIKE 'conflict:%'),
       (SELECT count(*) FROM idem_dead_letter WHERE reason NOT LIKE 'conflict:%')`).Scan(&g.records, &g.applied, &g.conflicts, &g.dead)
	g.applied += g.keyless
	g.duplicates = g.records - g.applied - g.conflicts - g.dead
	return err
}

// print writes the table and the verdict, which is the last line.
func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	line := func(name string, want, got int) { fmt.Fprintf(w, "  %s\t%d\t%d\t\n", name, want, got) }
	fmt.Fprintln(w, "  records\texpected\tfound\t")
	line("in the log, passed", r.want.records, r.got.records)
	line("applied", r.want.applied, r.got.applied)
	line("duplicates", r.want.duplicates, r.got.duplicates)
	fmt.Fprintf(w, "    sent again at once\t%d\t\t\n", r.causes[shop.Resent]+r.causes[shop.Original])
	fmt.Fprintf(w, "    old, produced again\t%d\t\t\n", r.causes[shop.Old])
	line("conflicts", r.want.conflicts, r.got.conflicts)
	line("dead letters", r.want.dead, r.got.dead)
	fmt.Fprintln(w, "\t\t\t")
	fmt.Fprintln(w, "  rows\texpected\tfound\t")
	lost, doubled := len(r.letters.missing), len(r.letters.extra)
	for _, t := range r.tables {
		line(t.Name, t.Expected, t.Found)
		lost += len(t.Missing)
		doubled += len(t.Extra)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, b := range r.broken {
		fmt.Fprintln(out, "  broken ledger:", b)
	}
	fmt.Fprintf(out, "\naudit: %d records, %d lost, %d doubled\n", r.want.records, lost, doubled)
	if lost+doubled > 0 || r.want != r.got || len(r.broken) > 0 {
		return errors.New("the audit failed")
	}
	return nil
}
