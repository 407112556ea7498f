package idemtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/proof"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
	"github.com/idemgen/idemgen/runtime/idem"
)

// A test of a handler that changes no row proves nothing: whatever is done twice, or not at all,
// looks alike. So the tests count the rows that each call of a handler changes.

// changesNoRow are the events that change no row on purpose.
var changesNoRow = map[string]bool{}

// ChangesNoRow names handled events, by their Go names, whose handlers change no row on purpose.
// The generated tests fail for every other handler that changes none. Call it in an init function
// of a test file: idemtest.ChangesNoRow("OrderViewed").
func ChangesNoRow(events ...string) {
	for _, e := range events {
		changesNoRow[e] = true
	}
}

// calls are those of handlers, by the place of their record: how many rows the last one changed.
type calls struct {
	mu      sync.Mutex
	changed map[recordOffset]int64
}

type callsKey struct{}

func newCalls() *calls { return &calls{changed: map[recordOffset]int64{}} }

// in returns a context in which calls are counted.
func (c *calls) in(ctx context.Context) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, callsKey{}, c)
}

// of is how many rows the handler changed that was called for a record.
func (c *calls) of(at recordOffset) (rows int64, called bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows, called = c.changed[at]
	return rows, called
}

// countRows is the middleware that counts. What it reads after the call waits for all that the
// handler queued. Rows that hold what they held before do not count: the savepoint that wrote them
// was rolled back, or they were set to the same values.
func countRows(next idem.HandlerFunc) idem.HandlerFunc {
	return func(ctx context.Context, tx idem.Tx) error {
		c, counts := ctx.Value(callsKey{}).(*calls)
		d, called := idem.DeliveryFrom(ctx)
		if !counts || !called {
			return next(ctx, tx)
		}
		before, uncounted := changedRows(ctx, tx)
		held, unread := contents(ctx, tx)
		err := next(ctx, tx)
		if err != nil || uncounted != nil || unread != nil {
			return err
		}
		after, err := changedRows(ctx, tx)
		if err != nil { // a queued statement failed, which ends the call
			return nil
		}
		if holds, err := contents(ctx, tx); err != nil || maps.Equal(held, holds) {
			after = before
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed[placeOf(d.Message)] = after - before
		return nil
	}
}

// changedRows is how many rows the transaction has changed so far, in tables of the service and in
// the outbox.
func changedRows(ctx context.Context, tx idem.Tx) (n int64, err error) {
	err = tx.QueryRow(ctx, `
SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_catalog.pg_stat_xact_user_tables
WHERE schemaname !~ '^pg_temp' AND (relname !~ '^idem_' OR relname = 'idem_outbox')`).Scan(&n)
	return n, err
}

// changesRows is the scenario that fails unless a record of each handled event of a topic is
// applied and changes a row: one of the log, or else one of a case.
func (s Service) changesRows(spec *proof.Service, entry *model.Topic) scenario {
	return scenario{"every handler changes a row", func(b *trial) {
		b.calls = newCalls()
		b.inBatches(b.log, func() int { return 1 })
		if testing.Verbose() {
			b.t.Logf("what the handlers did, and the rows after that:\n%s%s", b.shownCalls(), b.shownTables(b.dump()))
		}
		for _, e := range entry.Events {
			if e.Handle {
				s.mustChangeRows(b, spec, e)
			}
		}
	}, "The same as for one by one."}
}

func (s Service) mustChangeRows(b *trial, spec *proof.Service, e *model.Event) {
	b.t.Helper()
	changed, said := b.changes(e.GoName)
	switch {
	case changesNoRow[e.GoName] && changed:
		b.t.Errorf("the handler of %s%s changes rows: remove it from ChangesNoRow", e.GoName, sources().handler(e.GoName))
	case changesNoRow[e.GoName], changed, s.changesInCase(b.t, spec, e.GoName):
	default:
		b.t.Errorf(`the handler of %[1]s%[2]s changes no row, so these tests prove nothing about it: %[3]s.
Write a case in which it changes one (idemgen case NAME --event %[4]s), or a record, in editTestLog%[5]s.
If it changes none on purpose, add this line to a test file: func init() { idemtest.ChangesNoRow(%[1]q) }`,
			e.GoName, sources().handler(e.GoName), said, e.Name, sources().at("", "editTestLog"))
	}
}

// changes reports whether a record of an event was applied whose handler changed a row. If not,
// said is what happened.
func (b *trial) changes(event string) (changed bool, said string) {
	records, applied, counted, dead := 0, 0, false, ""
	letters := b.deadLetters()
	for _, r := range b.log {
		if r.handled != event {
			continue
		}
		at := placeOf(r.message)
		records++
		if l, is := letters[at]; is {
			dead = cmp.Or(dead, fmt.Sprintf("; offset %d is a dead letter: %s", at.offset, l.reason))
			continue
		}
		applied++
		rows, called := b.calls.of(at)
		if counted = counted || called; rows > 0 {
			return true, ""
		}
	}
	switch {
	case records == 0:
		return false, "the log has no record of it"
	case applied > 0 && !counted:
		return false, "its calls are not counted, because New does not pass idemtest.Options(t, db)... to NewConsumer"
	}
	return false, fmt.Sprintf("of its %d records %d were applied, and none changed a row%s", records, applied, dead)
}

// changesInCase reports whether the handler of an event changes a row in some case.
func (s Service) changesInCase(t testing.TB, spec *proof.Service, event string) bool {
	t.Helper()
	files, _ := s.cases()
	for _, file := range files {
		script, err := readCase(spec, file)
		if err != nil || !slices.ContainsFunc(script.Records, func(r seedlog.Record) bool { return r.Event == event }) {
			continue // TestCases says what is wrong
		}
		c, err := s.caseRunner(spec, file, script)
		if err != nil {
			continue
		}
		b := c.newTrial(t)
		b.calls = newCalls()
		owners := b.owners()
		for _, m := range b.messages(b.log) {
			if _, err := b.try(t.Context(), owners.writer(partitionOf(m)), []idem.Message{m}); err != nil {
				break
			}
		}
		if changed, _ := b.changes(event); changed {
			return true
		}
	}
	return false
}

// shownCalls are the records of a log with what their handlers did.
func (b *trial) shownCalls() string {
	var out strings.Builder
	letters := b.deadLetters()
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OFFSET\tHANDLER\tROWS CHANGED\tBECOMES")
	for _, r := range b.log {
		if r.handled == "" {
			continue
		}
		at, becomes := placeOf(r.message), "applied"
		if l, dead := letters[at]; dead {
			becomes = "dead letter: " + l.reason
		}
		rows, _ := b.calls.of(at)
		fmt.Fprintf(table, "%d\t%s\t%d\t%s\n", at.offset, r.handled, rows, becomes)
	}
	table.Flush() // into a strings.Builder
	return out.String()
}
