package idem

import (
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/wire"
)

// judge decides what follows from the outcome of a transaction over records. It returns
// nil if the owner can go on at once, and otherwise what its caller must know.
func (o *owner) judge(records []Message, err error) error {
	if err == nil {
		o.search.passed(len(records))
		return nil
	}
	if halted, ok := errors.AsType[*HaltedError](err); ok {
		return halted
	}
	if fenced, ok := errors.AsType[*FencedError](err); ok {
		return fenced
	}
	if h, ok := errors.AsType[*handlerError](err); ok {
		return o.judgeHandler(records, h)
	}
	if errors.Is(err, errRolledBack) {
		return o.judgeData(records, err)
	}
	switch classify(err) {
	case classData:
		return o.judgeData(records, err)
	case classHalt:
		return o.halted(records[0].Offset, "the database refused a statement for a reason that is no record's fault", describe(err))
	case classResource:
		return &waitError{err: describe(err), resource: true}
	}
	return &waitError{err: describe(err)}
}

// judgeData searches the records for the one that is refused, and condemns it.
func (o *owner) judgeData(records []Message, err error) error {
	if o.search.failed(len(records)) {
		o.c.stats.splits.Add(1)
	}
	if len(records) > 1 {
		return nil
	}
	if o.batch.StopsOnFailure() {
		return o.halted(records[0].Offset, "on_failure says stop: the database refused the record", describe(err))
	}
	if _, twice := o.condemned[records[0].Offset]; twice {
		return o.halted(records[0].Offset, "the record's dead letter is refused too", describe(err))
	}
	o.condemned[records[0].Offset] = letterOf(&records[0], wire.ReasonDatabase, o.batch.Event(), describe(err))
	return nil
}

// judgeHandler follows on_failure for an error of a handler. The error names its record,
// so there is nothing to search: what stands before it goes first, then it alone.
func (o *owner) judgeHandler(records []Message, h *handlerError) error {
	m := h.call.Message
	if errors.Is(h.err, ErrNotImplemented) {
		return o.halted(m.Offset, "handler "+h.call.Event+" is not implemented", nil)
	}
	if h.outage {
		// No fault of the event, so nothing is counted. What stands before it goes first, in
		// a transaction of its own: a batch of slow handlers may never fit into its time.
		o.limit = max(1, indexOf(records, m.Offset))
		return &waitError{err: h}
	}
	if pg, ok := errors.AsType[*pgconn.PgError](h.err); ok {
		switch classify(pg) {
		case classData:
		case classHalt:
			return o.halted(m.Offset, "handler "+h.call.Event+" got an error that is no record's fault", describe(pg))
		default:
			return &waitError{err: describe(pg), resource: classify(pg) == classResource}
		}
	}
	if !IsPermanent(h.err) && !h.swallowed {
		if wait, again := o.calls.again(m.Offset, h); again {
			o.limit = max(1, indexOf(records, m.Offset))
			return &waitError{err: h, after: wait}
		}
	}
	if h.call.Policy.Stop {
		return o.halted(m.Offset, "handler "+h.call.Event+" failed and on_failure says stop", describe(h.err))
	}
	o.c.stats.splits.Add(1)
	o.condemned[m.Offset] = letterOf(m, wire.ReasonHandler, h.call.Event, describe(h.err))
	o.calls = callCount{}
	return nil
}

func indexOf(records []Message, offset int64) int {
	for i := range records {
		if records[i].Offset == offset {
			return i
		}
	}
	return len(records)
}

// callCount counts the failed calls for the record that stands first.
type callCount struct {
	offset int64
	failed int
}

// again reports whether the handler may be called again, and after which pause.
func (c *callCount) again(offset int64, h *handlerError) (time.Duration, bool) {
	if c.offset != offset {
		*c = callCount{offset: offset}
	}
	p := h.call.Policy
	if r, ok := errors.AsType[*retryError](h.err); ok {
		if r.after >= 0 {
			return r.after, true
		}
		return backoff(max(1, c.failed), p.InitialBackoff, p.MaxBackoff), true
	}
	c.failed++
	return backoff(c.failed, p.InitialBackoff, p.MaxBackoff), c.failed <= p.Retries
}

// attempt is the number of the coming call for a record.
func (c *callCount) attempt(offset int64) int {
	if c.offset != offset {
		return 1
	}
	return c.failed + 1
}

// waitError says that nothing is wrong with the records: the same batch again, later.
type waitError struct {
	err      error
	after    time.Duration // 0 = the caller's own backoff
	resource bool
}

func (e *waitError) Error() string { return e.err.Error() }
func (e *waitError) Unwrap() error { return e.err }

// handlerError is an error of a handler's call.
type handlerError struct {
	call *wire.Call
	err  error
	// swallowed: a statement failed in the transaction, but the handler returned nil or
	// another error.
	swallowed bool
	// outage: the connection is gone, or the batch's time was over, not the event's.
	outage bool
}

func (e *handlerError) Error() string { return "handler " + e.call.Event + ": " + e.err.Error() }
func (e *handlerError) Unwrap() error { return e.err }

// databaseError is what may be told of an error of the database: everything but its
// message and detail, which may quote values of a record.
type databaseError struct{ pg *pgconn.PgError }

func (e *databaseError) Error() string {
	if e.pg.TableName == rowMissing {
		return "no row with this key in table " + missingTable(e.pg.Detail)
	}
	text := "SQLSTATE " + e.pg.Code
	for _, part := range []struct{ name, value string }{
		{"table", e.pg.TableName}, {"column", e.pg.ColumnName}, {"constraint", e.pg.ConstraintName}, {"type", e.pg.DataTypeName},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

func (e *databaseError) Unwrap() error { return e.pg }

// rowMissing is the table into which an update that does not find its row inserts the name
// of its table, which is refused.
const rowMissing = "idem_row_missing"

// missingTable takes that name out of "Failing row contains (orders).", in any language.
func missingTable(detail string) string {
	_, rest, _ := strings.Cut(detail, "(")
	name, _, ok := strings.Cut(rest, ")")
	if !ok {
		return "unknown"
	}
	return name
}

// describe hides what an error of the database may quote. Errors about the schema keep
// their message: it names tables and columns, and a person needs it.
func describe(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || sqlstateClass(pg) == classHalt {
		return err
	}
	return &databaseError{pg}
}
