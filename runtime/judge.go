package idem

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/internal/outage"
	"github.com/idemgen/idemgen/runtime/internal/pgerror"
	"github.com/idemgen/idemgen/runtime/internal/protocol"
	"github.com/idemgen/idemgen/runtime/wire"
)

// judge decides what follows from the outcome of a transaction over records, and takes the
// protocol's step for it. It returns nil if the owner can go on at once, and otherwise what
// its caller must know.
func (o *owner) judge(records []Message, err error) error {
	if err == nil {
		o.search.passed(len(records) - len(o.unseen(records)))
		return nil
	}
	if fenced, ok := errors.AsType[*FencedError](err); ok { // its step was taken
		return fenced
	}
	if _, unconnected := errors.AsType[*connectError](err); unconnected {
		// Nothing was sent, whatever the error is: the owner stands where it stood, and no
		// record is to blame.
		wait := &waitError{err: inWords(describe(err))}
		o.w.tell(o, wait)
		return wait
	}
	event, verdict := o.verdict(records, err)
	if halted, ok := errors.AsType[*HaltedError](verdict); ok {
		event, verdict = protocol.Fatal, halted
	}
	if err := o.step(event, verdict, nil); err != nil {
		return err
	}
	return verdict
}

// connectError says that a transaction could not begin for want of a connection.
type connectError struct{ error }

func (e *connectError) Unwrap() error { return e.error }

// verdict says what the error was for the protocol, and what the caller must know.
func (o *owner) verdict(records []Message, err error) (protocol.Event, error) {
	if halted, ok := errors.AsType[*HaltedError](err); ok {
		return protocol.Fatal, halted
	}
	if h, ok := errors.AsType[*handlerError](err); ok {
		return o.judgeHandler(records, h)
	}
	if errors.Is(err, errRolledBack) {
		return protocol.Data, o.judgeData(records, err)
	}
	first := firstOf(records)
	class := pgerror.Of(err)
	if class == pgerror.Data && len(records) == 0 { // no record can be to blame
		class = pgerror.Halt
	}
	switch class {
	case pgerror.Data:
		return protocol.Data, o.judgeData(records, err)
	case pgerror.Pooler:
		return protocol.Fatal, o.halted(halt.Pooler, first, poolerText, describe(err))
	case pgerror.Halt:
		return o.judgeNobodys(records, err)
	case pgerror.Stale:
		if o.replanned {
			return protocol.Fatal, o.halted(halt.Database, first, "statements no longer fit the schema, although they were prepared anew", describe(err))
		}
		o.replanned = true
	case pgerror.Timeout:
		return o.judgeTimeout(records, err)
	case pgerror.LockWait:
		o.stalled = o.doubtful
	case pgerror.Doubt:
		o.doubtful = true
	}
	return class.Event(), &waitError{err: inWords(describe(err))}
}

const poolerText = "another session answers than the one that the connection was given: a connection pooler in transaction mode stands before the database; use its session mode, or connect directly, and restart the service, which is enough; the command alone is not"

// judgeNobodys is for an error that is no record's fault as far as anybody knows. One of the
// user's tables and triggers may be about one record all the same: what stands before that
// one is applied, and the partition stands before it.
func (o *owner) judgeNobodys(records []Message, err error) (protocol.Event, error) {
	_, theirs := errors.AsType[*pgerror.Write](err)
	if theirs && len(records) > 1 {
		o.searchIn(records)
		return protocol.Data, nil
	}
	halted := o.halted(halt.Database, firstOf(records), "the database refused a statement for a reason that is no record's fault", describe(err))
	if theirs {
		offerPass(halted, o.c.service.Consumer)
	}
	return protocol.Fatal, halted
}

// offerPass has a halt name the command that passes its record, which it may be about.
func offerPass(err error, consumer string) {
	if h, ok := errors.AsType[*HaltedError](err); ok {
		h.Pass = halt.Pass(h.Code, consumer, h.Partition.Topic, h.Partition.Number, h.Offset)
	}
}

// judgeTimeout is for a statement that was cancelled or took too long: half the batch may
// fit. A record alone is tried again, with pauses, as often as on_failure says.
func (o *owner) judgeTimeout(records []Message, err error) (protocol.Event, error) {
	if n := len(records); n != 1 {
		o.limit = n / 2
		return protocol.Conflict, &waitError{err: describe(err)}
	}
	if wait, again := o.timeouts.again(records[0].Offset, o.policyOf(&records[0]), err); again {
		return protocol.Conflict, &waitError{err: describe(err), after: wait}
	}
	return protocol.Data, o.judgeData(records, err)
}

// searchIn says that the records fail together.
func (o *owner) searchIn(records []Message) {
	if o.search.failed(len(records)) {
		o.c.stats.splits.Add(1)
	}
}

// judgeData searches the records for the one that is refused, and condemns it.
func (o *owner) judgeData(records []Message, err error) error {
	o.searchIn(records)
	if len(records) > 1 {
		return nil
	}
	m := &records[0]
	if _, twice := o.condemned[m.Offset]; twice || letterRefused(err) {
		return o.halted(halt.LetterRefused, m.Offset, "the record's dead letter is refused too", describe(err))
	}
	l := letterOf(m, o.policyOf(m), wire.ReasonDatabase, o.batch.Event(), describe(err))
	if l.policy.Stop {
		return o.halted(halt.RecordRefused, m.Offset, "on_failure says stop: the database refused the record", describe(err))
	}
	o.condemned[m.Offset] = l
	return nil
}

// letterRefused reports whether somebody's constraint refused a dead letter. Another one in
// its place would hide why the record has none.
func letterRefused(err error) bool {
	_, own := errors.AsType[*pgerror.Protocol](err)
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return own && ok && pg.TableName == "idem_dead_letter"
}

// judgeHandler follows on_failure for an error of a handler. The error names its record,
// so there is nothing to search: what stands before it goes first, then it alone.
func (o *owner) judgeHandler(records []Message, h *handlerError) (protocol.Event, error) {
	m := h.call.Message
	if errors.Is(h.err, ErrNotImplemented) {
		if o.others(records, m) {
			return protocol.Data, nil
		}
		return protocol.Fatal, o.halted(halt.Handler, m.Offset, "handler "+h.call.Event+" is not implemented", nil)
	}
	if h.outage {
		// No fault of the event, so nothing is counted. What stands before it goes first, in
		// a transaction of its own.
		o.limit = max(1, indexOf(records, m.Offset))
		o.doubtful = true
		return protocol.Unknown, &waitError{err: h}
	}
	if h.late {
		return o.judgeLate(records, h)
	}
	if pg, ok := errors.AsType[*pgconn.PgError](h.err); ok {
		switch class := pgerror.Of(pg); class {
		case pgerror.Data, pgerror.Timeout:
		case pgerror.Halt, pgerror.Pooler, pgerror.Successor, pgerror.Gone:
			if o.others(records, m) {
				return protocol.Data, nil
			}
			halted := o.halted(halt.Database, m.Offset, "handler "+h.call.Event+" got an error that is no record's fault", describe(pg))
			offerPass(halted, o.c.service.Consumer)
			return protocol.Fatal, halted
		default:
			return class.Event(), &waitError{err: describe(pg)}
		}
	}
	if !IsPermanent(h.err) {
		if wait, again := o.calls.again(m.Offset, h.call.Policy, h.err); again {
			o.limit = max(1, indexOf(records, m.Offset))
			return protocol.Conflict, &waitError{err: h, after: wait}
		}
	}
	return o.giveUp(records, h)
}

// judgeLate is for a handler that was at work when the time of the transaction was over. That
// counts for its record if nothing else was done in that time.
func (o *owner) judgeLate(records []Message, h *handlerError) (protocol.Event, error) {
	o.doubtful = true // the server may not have heard of it yet
	if o.others(records, h.call.Message) {
		return protocol.Conflict, &waitError{err: h}
	}
	if wait, again := o.timeouts.again(h.call.Message.Offset, h.call.Policy, h.err); again {
		o.limit = 1
		return protocol.Conflict, &waitError{err: h, after: wait}
	}
	return o.giveUp(records, h)
}

// others reports whether records stand before m, and has them go first.
func (o *owner) others(records []Message, m *Message) bool {
	n := indexOf(records, m.Offset)
	if n > 0 {
		o.limit = n
	}
	return n > 0
}

// giveUp does what on_failure says of a record whose handler failed for the last time.
func (o *owner) giveUp(records []Message, h *handlerError) (protocol.Event, error) {
	m := h.call.Message
	if h.call.Policy.Stop {
		if o.others(records, m) {
			return protocol.Data, nil
		}
		return protocol.Fatal, o.halted(halt.RecordRefused, m.Offset, "handler "+h.call.Event+" failed and on_failure says stop", describe(h.err))
	}
	o.c.stats.splits.Add(1)
	o.condemned[m.Offset] = letterOf(m, h.call.Policy, wire.ReasonHandler, h.call.Event, describe(h.err))
	o.calls = callCount{}
	return protocol.Data, nil
}

func indexOf(records []Message, offset int64) int {
	for i := range records {
		if records[i].Offset == offset {
			return i
		}
	}
	return len(records)
}

// callCount counts the failures of one record: of its handler, or by time.
type callCount struct {
	offset int64
	failed int
}

// again reports whether the record may be tried again, and after which pause.
func (c *callCount) again(offset int64, p *wire.FailurePolicy, err error) (time.Duration, bool) {
	if c.offset != offset {
		*c = callCount{offset: offset}
	}
	if r, ok := errors.AsType[*retryError](err); ok {
		if r.after >= 0 {
			return r.after, true
		}
		return backoff(max(1, c.failed), p.InitialBackoff, p.MaxBackoff), true
	}
	c.failed++
	return backoff(c.failed, p.InitialBackoff, p.MaxBackoff), c.failed <= p.Retries
}

// succeeded says that a call went well: what failed before it does not count any more, even
// if the transaction is rolled back for another record.
func (c *callCount) succeeded(offset int64) {
	if c.offset == offset {
		c.failed = 0
	}
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
	err   error
	after time.Duration // 0 = the caller's own backoff
}

func (e *waitError) Error() string { return "will be tried again: " + e.err.Error() }
func (e *waitError) Unwrap() error { return e.err }

// handlerError is an error of a handler's call.
type handlerError struct {
	call   *wire.Call
	err    error
	outage bool // the connection is gone
	late   bool // the batch's time was over, not the event's
	left   bool // what the call ran may have ended the transaction before it failed
}

func (e *handlerError) Error() string {
	return fmt.Sprintf("handler %s, offset %d: %v", e.call.Event, e.call.Message.Offset, describe(e.err))
}
func (e *handlerError) Unwrap() error { return e.err }

// databaseError is what may be told of an error of the database: everything but its
// message, detail and statements, which may quote values of a record.
type databaseError struct{ pg *pgconn.PgError }

func (e *databaseError) Error() string {
	if e.pg.TableName == rowMissing {
		return "no row with this key in table " + missingTable(e.pg.Detail)
	}
	text := "SQLSTATE " + e.pg.Code
	if words := outage.State(e.pg.Code); words != "" {
		text = words + ": " + text
	}
	for _, part := range []struct{ name, value string }{
		{"table", e.pg.TableName}, {"column", e.pg.ColumnName}, {"constraint", e.pg.ConstraintName}, {"type", e.pg.DataTypeName},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	if frame := outage.Frame(e.pg.Where); frame != "" {
		text += ", " + frame
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

// describe hides what an error of the database may quote. What the server itself says of
// the schema and of rights keeps its message: it names tables and columns, and a person
// needs it.
func describe(err error) error {
	if late, ok := errors.AsType[*overdueError](err); ok { // which describes its cause
		return late
	}
	if gone, ok := errors.AsType[*outage.Unreachable](err); ok {
		return gone
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "42", "28", "3D", "3F":
		if !pgerror.Raised(pg) {
			return err
		}
	}
	return &databaseError{pg}
}
