package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idemgen/generator/oracle"
)

// report is what the audit found: what the replay expects, and what the database says.
type report struct {
	causes  map[cause]int // duplicates by cause
	want    counts
	got     counts
	tables  []tableCount
	letters struct{ missing, extra []string }
	broken  []string // chains with a gap
}

// counts are the records by what became of them.
type counts struct{ records, applied, duplicates, conflicts, dead, keyless int }

func (r *report) count(e entry, out oracle.Outcome) {
	r.want.records++
	switch out.Kind {
	case oracle.Applied:
		r.want.applied++
		if out.Key == "" {
			r.want.keyless++
		}
	case oracle.Duplicate:
		r.want.duplicates++
		r.causes[e.cause]++
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
	if err != nil {
		return err
	}
	g.applied += g.keyless
	g.duplicates = g.records - g.applied - g.conflicts - g.dead
	rows, err := db.Query(ctx, `
SELECT 'stream ' || stream || ' at ' || seq FROM (
  SELECT stream, seq, prev, lag(next) OVER w AS before, lag(seq) OVER w AS last FROM idem_ledger WINDOW w AS (PARTITION BY stream ORDER BY seq)) AS chain
WHERE last IS NOT NULL AND (seq <> last + 1 OR prev <> before)`)
	if err != nil {
		return err
	}
	r.broken, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

func (r *report) compareLetters(ctx context.Context, db *pgxpool.Pool, in *oracle.Interpreter) error {
	rows, err := db.Query(ctx, `
SELECT s.partition || ' ' || d.offs || ' ' || split_part(d.reason, ':', 1) FROM idem_dead_letter d JOIN idem_stream s USING (stream)`)
	if err != nil {
		return err
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	var want []string
	for _, l := range in.DeadLetters() {
		want = append(want, strings.Join(strings.SplitN(l, " ", 4)[:3], " "))
	}
	r.letters.missing, r.letters.extra = difference(want, got)
	return nil
}

// print writes the table and the verdict, which is the last line.
func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	line := func(name string, want, got int) { fmt.Fprintf(w, "  %s\t%d\t%d\t\n", name, want, got) }
	fmt.Fprintln(w, "  records\texpected\tfound\t")
	line("in the log, passed", r.want.records, r.got.records)
	line("applied", r.want.applied, r.got.applied)
	line("duplicates", r.want.duplicates, r.got.duplicates)
	fmt.Fprintf(w, "    sent again at once\t%d\t\t\n", r.causes[resent]+r.causes[original])
	fmt.Fprintf(w, "    old, produced again\t%d\t\t\n", r.causes[old])
	line("conflicts", r.want.conflicts, r.got.conflicts)
	line("dead letters", r.want.dead, r.got.dead)
	fmt.Fprintln(w, "\t\t\t")
	fmt.Fprintln(w, "  rows\texpected\tfound\t")
	lost, doubled := len(r.letters.missing), len(r.letters.extra)
	for _, t := range r.tables {
		line(t.name, t.expected, t.found)
		lost += t.missing
		doubled += t.extra
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
