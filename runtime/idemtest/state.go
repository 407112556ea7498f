package idemtest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// state is what tables hold, in the form that package oracle gives them, and what became
// of the records that were refused.
type state struct {
	tables  []rows
	dead    map[int]expectedDead // by index in the log; nil: only their classes are known
	classes map[string]int       // dead letters by class, where dead is nil
	calls   map[string]int       // of effects, by event, of those that are counted
}

// rows are the rows of a table, as cells "column=value".
type rows struct {
	table   string
	cells   [][]string
	counted int // where rows are counted only: how many there are, or notCounted
}

const notCounted = -1

// column names a column of a table.
type column struct{ table, name string }

// expectedDead is a dead letter that must be there. An empty class matches any.
type expectedDead struct {
	class, path string
	mayWait     bool // it may be parked instead, behind another one
}

func (d expectedDead) at(p recordOffset) string {
	return strings.TrimRight(fmt.Sprintf("%s %d %d %s %s", p.topic, p.number, p.offset, cmp.Or(d.class, "of any class"), d.path), " ")
}

func (d expectedDead) matches(l deadLetter) bool {
	if d.class == "" || d.mayWait && l.class == parkedClass {
		return true
	}
	known := d.path != "" && d.path != "-" && d.path != "the payload"
	return d.class == l.class && (!known || strings.Contains(l.reason, d.path))
}

// deadLetter is a dead letter in the database.
type deadLetter struct {
	class, reason string
}

// lines are the rows, each with the name of its table.
func (s *state) lines() (out []string) {
	for _, t := range s.tables {
		if t.counted != notCounted {
			out = append(out, fmt.Sprintf("%s: %d rows", t.table, t.counted))
		}
		for _, r := range t.cells {
			out = append(out, t.table+": "+strings.Join(r, "  "))
		}
	}
	return out
}

func (s *state) columns() iter.Seq[column] {
	return func(yield func(column) bool) {
		for _, t := range s.tables {
			if len(t.cells) == 0 {
				continue
			}
			for _, c := range t.cells[0] {
				if !yield(column{t.table, columnOf(c)}) {
					return
				}
			}
		}
	}
}

// cells are the sorted values of a column.
func (s *state) cells(of column) (out []string) {
	for _, t := range s.tables {
		for _, r := range t.cells {
			for _, c := range r {
				if t.table == of.table && columnOf(c) == of.name {
					out = append(out, c)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func (s *state) without(loose map[column]bool) *state {
	out := &state{dead: s.dead, classes: s.classes}
	for _, t := range s.tables {
		kept := rows{table: t.table, counted: t.counted}
		for _, r := range t.cells {
			kept.cells = append(kept.cells, slices.DeleteFunc(slices.Clone(r), func(c string) bool {
				return loose[column{t.table, columnOf(c)}]
			}))
		}
		out.tables = append(out.tables, kept)
	}
	return out
}

func columnOf(cell string) string {
	name, _, _ := strings.Cut(cell, "=")
	return name
}

// dump reads the tables of the service.
func (b *trial) dump() *state {
	b.t.Helper()
	s, err := b.read(b.t.Context(), b.db)
	if err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	return s
}

// read reads the tables of the service.
func (c *runner) read(ctx context.Context, db *pgxpool.Pool) (*state, error) {
	s := &state{}
	for _, t := range c.tables {
		found, err := readRows(ctx, db, t)
		if err != nil {
			return nil, fmt.Errorf("read table %s: %w", t.Name, err)
		}
		if t.counted {
			found.cells, found.counted = nil, len(found.cells)
		}
		s.tables = append(s.tables, found)
	}
	if c.ofCase {
		s.asJSON()
	}
	return s, nil
}

// deadLetters reads the letters that are open.
func (b *trial) deadLetters() map[recordOffset]deadLetter {
	b.t.Helper()
	letters, err := readLetters(b.t.Context(), b.db)
	if err != nil {
		b.t.Fatalf("idemtest: %v", err)
	}
	return letters
}

func readLetters(ctx context.Context, db *pgxpool.Pool) (map[recordOffset]deadLetter, error) {
	list, _ := db.Query(ctx, `
SELECT s.topic, s.partition, d.offs, d.reason FROM idem_dead_letter d JOIN idem_stream s USING (stream)
WHERE d.state IN ('d', 'w')`)
	out := map[recordOffset]deadLetter{}
	var at recordOffset
	var reason string
	_, err := pgx.ForEachRow(list, []any{&at.topic, &at.number, &at.offset, &reason}, func() error {
		class, _, _ := strings.Cut(reason, ":")
		out[at] = deadLetter{class, reason}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	return out, nil
}
