package operate_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/operate"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A command on several streams is tried on all before it is run on one, and says which are done
// if it fails later.
func TestEachSaysWhatIsDone(t *testing.T) {
	no := errors.New("no")
	var names []operate.Name
	for i := range int32(4) {
		names = append(names, operate.Name{Partition: i})
	}
	dry := ann
	dry.DryRun = true
	for _, c := range []struct {
		names []operate.Name
		by    operate.By
		fails string // the call that fails
		want  string // the calls, and the error
	}{
		{names[:0], ann, "", " <nil>"}, {names[:1], ann, "", "0 <nil>"}, {names[:1], ann, "0", " no"},
		{names[:2], ann, "", "0? 1? 0 1 <nil>"}, {names[:2], dry, "", "0? 1? <nil>"}, {names[:2], dry, "1?", "0? no; partitions 0 are done, 1 are not"},
		{names, ann, "2?", "0? 1? no; nothing was appended to any partition"}, {names, ann, "0", "0? 1? 2? 3? no"},
		{names, ann, "2", "0? 1? 2? 3? 0 1 no; partitions 0, 1 are done, 2, 3 are not"},
	} {
		var calls []string
		done, err := operate.Each(c.names, c.by, func(n operate.Name, by operate.By) (operate.Change, error) {
			call := fmt.Sprint(n.Partition)
			if by.DryRun {
				call += "?"
			}
			if call == c.fails {
				return operate.Change{}, no
			}
			calls = append(calls, call)
			return operate.Change{Name: n}, nil
		})
		want(t, fmt.Sprint("calls of ", c), fmt.Sprint(strings.Join(calls, " "), " ", err), c.want)
		real := 0
		for _, call := range calls {
			if strings.HasSuffix(call, "?") == c.by.DryRun {
				real++
			}
		}
		want(t, "changes", len(done), real)
	}
}

// After an error of an append the row may be stored, another one may be in its place, or neither.
func TestErrorsOfAppends(t *testing.T) {
	for _, c := range []struct {
		err            error
		unknown, moved bool
	}{
		{io.EOF, true, false}, {pgx.ErrTxCommitRollback, false, false},
		{&pgconn.PgError{Code: "40003"}, true, false}, {&pgconn.PgError{Code: "40001"}, false, false}, {&pgconn.PgError{Code: "08006"}, true, false}, {&pgconn.PgError{Code: "57P01"}, true, false}, {&pgconn.PgError{Code: "57014"}, false, false},
		{&pgconn.PgError{Code: "23505", ConstraintName: "idem_ledger_pkey"}, false, true}, {&pgconn.PgError{Code: "23505", ConstraintName: "idem_stream_identity"}, false, true},
		{&pgconn.PgError{Code: "23505", ConstraintName: "other"}, false, false}, {&pgconn.PgError{Code: "23514", ConstraintName: "idem_ledger_pkey"}, false, false}, {&pgconn.PgError{Code: "23514", ConstraintName: "idem_stream_identity"}, false, false},
		{&pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "prev"}, false, true}, {&pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "seq"}, false, true},
		{&pgconn.PgError{Code: "23502", TableName: "idem_ledger", ColumnName: "next"}, false, false}, {&pgconn.PgError{Code: "23502", TableName: "orders", ColumnName: "prev"}, false, false}, {&pgconn.PgError{Code: "23505", TableName: "idem_ledger", ColumnName: "prev"}, false, false},
	} {
		err := fmt.Errorf("append: %w", c.err)
		want(t, fmt.Sprintf("%+v", c.err), fmt.Sprint(operate.IsUnknown(err), operate.IsMoved(err)), fmt.Sprint(c.unknown, c.moved))
	}
}

// Ages, numbers of things and of partitions are written as people read them.
func TestWordsForOperators(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{operate.Age(0.4), "0s"}, {operate.Age(0.5), "1s"}, {operate.Age(3600), "1h0m0s"}, {operate.Age(48*3600 - 1), "47h59m59s"}, {operate.Age(48 * 3600), "2d"}, {operate.Age(71 * 3600), "2d"},
		{operate.Ranges(nil), ""}, {operate.Ranges([]int32{3}), "3"}, {operate.Ranges([]int32{0, 1}), "0-1"}, {operate.Ranges([]int32{0, 2, 3, 4, 7}), "0, 2-4, 7"},
		{operate.Common(strings.Repeat("é", 301)), strings.Repeat("é", 300)}, {operate.Common(strings.Repeat("é", 300)), strings.Repeat("é", 300)}, {operate.Common("status 404, Status 404; nothing 12 numeric(3,-1)"), "status 404, Status #; nothing # numeric(3,-1)"},
		{operate.Common("{status 404 [status 404 `status 404 @status 404 /status 404 :status 404 zstatus 404 Zstatus 404 9status 404 _status 404"),
			"{status 404 [status 404 `status 404 @status 404 /status 404 :status 404 zstatus # Zstatus # #status # _status #"},
		{(&operate.Letter{Place: operate.Place{Consumer: "c", Topic: "t", Partition: 1, Offset: 7}}).CommandName(), "t 1:7 --consumer c"},
		{operate.KeyName([]byte("a:b c")), "a:b c"}, {operate.KeyName([]byte("hex:6b")), "hex:6865783a3662"}, {operate.KeyName(nil), "hex:"}, {operate.KeyName([]byte("a ")), "hex:6120"}, {operate.KeyName([]byte("a  b")), "hex:61202062"}, {operate.KeyName([]byte{0, 42}), "hex:002a"},
		{fmt.Sprint((&operate.Problem{Ways: []operate.Exit{{Command: "a"}, {Command: "b", Way: new(halt.Way)}, {Command: "c", Other: true}}}).Pasted()), "[{a  false <nil>} {c  true <nil>}]"},
		{(&operate.Status{OpenDeadLetters: 1000}).Letters(), "1000"}, {(&operate.Status{OpenDeadLetters: 1001}).Letters(), "1000+"},
	} {
		want(t, "text", c.got, c.want)
	}
}

// A request needs a reason of one line, which is not too long and hides nothing, and a name if
// one is given.
func TestReasonsOfOperators(t *testing.T) {
	db := database(t)
	begin(t, db, orders, oldID)
	dry := func(operator, reason string) string {
		done, err := operate.Release(t.Context(), db, orders, operate.Leave{}, operate.By{Operator: operator, Reason: reason, DryRun: true})
		if err != nil {
			return err.Error()
		}
		return done.Info
	}
	name, reason := strings.Repeat("é", 100), strings.Repeat("é", 500)
	for _, c := range []struct{ operator, reason, want string }{
		{name, reason, "operator " + name + ": " + reason}, {" ann  b ", "a\tb\n c", "operator ann b: a b c"},
		{"ann", reason + "x", "the reason has 501 characters, more than 500: keep the rest elsewhere, and say where"},
		{name + "x", "why", "the operator's name has 101 characters, more than 100: keep the rest elsewhere, and say where"},
		{"ann", " ", "a reason is required: the ledger keeps it, for later operators"}, {"ann", "a\u202eb", "the reason contains characters that cannot be printed"},
		{"a\x1bb", "why", "the operator's name contains characters that cannot be printed"}, {"ann", "a\xffb", "the reason contains characters that cannot be printed"},
		{"a\x1bb", "", "a reason is required: the ledger keeps it, for later operators\nthe operator's name contains characters that cannot be printed"},
	} {
		want(t, fmt.Sprintf("%q %q", c.operator, c.reason), dry(c.operator, c.reason), c.want)
	}
}

// A replay calls an effect again that may have been called, unless its result is recorded.
func TestReplaysThatCallAgain(t *testing.T) {
	answered := &operate.Request{Answer: wire.ReasonInterrupted + ": nobody knows"}
	interrupted, handler := operate.Cause{Class: wire.ReasonInterrupted}, operate.Cause{Class: wire.ReasonHandler}
	for _, c := range []struct {
		letter operate.Letter
		want   bool
	}{
		{operate.Letter{Cause: interrupted}, true}, {operate.Letter{Cause: interrupted, Called: true}, false}, {operate.Letter{Cause: handler}, false},
		{operate.Letter{Cause: handler, Request: answered}, true}, {operate.Letter{Cause: interrupted, Called: true, Request: answered}, true},
		{operate.Letter{Cause: handler, Request: &operate.Request{Answer: "handler: no"}}, false},
	} {
		want(t, fmt.Sprintf("%+v", c.letter), c.letter.CallsAgain(), c.want)
	}
}

// What may be requested of a letter follows from its state.
func TestWhatMayBeRequested(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	open := func(change func(*operate.Letter)) operate.Letter {
		l := operate.Letter{Place: operate.Place{Consumer: "c", Topic: "t", Partition: 1, Offset: 7}, Cause: operate.Cause{Class: "decode", Event: "Paid"}, State: "dead", Kept: true}
		if change != nil {
			change(&l)
		}
		return l
	}
	const name = "t/1 offset 7 of c"
	for _, c := range []struct {
		letter          operate.Letter
		replay, discard string
	}{
		{open(nil), "", ""},
		{open(func(l *operate.Letter) { l.Former = true }), name + ": its topic was recreated, and records of the former one are no longer applied: it can only be discarded", ""},
		{open(func(l *operate.Letter) { l.Former, l.State = true, "waiting" }), name + ": its topic was recreated, and records of the former one are no longer applied: it can only be discarded", ""},
		{open(func(l *operate.Letter) { l.State = "waiting" }), name + " waits behind a dead letter of its record key: replay or discard that one (decode: Paid)", name + " waits behind a dead letter of its record key: replay or discard that one (decode: Paid)"},
		{open(func(l *operate.Letter) { l.State, l.End = "replayed", &operate.End{By: "ann"} }), name + " was replayed by ann", name + " was replayed by ann"},
		{open(func(l *operate.Letter) { l.Request = &operate.Request{For: "replay", By: "ann", At: at} }),
			name + ": a replay is already requested, since 2026-01-02T03:04:05Z by ann (idemgen dead replay --take-back)", name + ": a replay is already requested, since 2026-01-02T03:04:05Z by ann (idemgen dead replay --take-back)"},
		{open(func(l *operate.Letter) { l.Request = &operate.Request{By: "ann"} }), "", ""},
		{open(func(l *operate.Letter) { l.ErasedBy, l.Kept = "ann", false }), name + ": its record was erased by ann: it can only be discarded", ""},
		{open(func(l *operate.Letter) { l.Kept = false }), name + ": its record is not kept (on_failure.dead_letter_payload, or it is longer than 16 MiB): it can only be discarded", ""},
	} {
		for verb, text := range map[string]string{"replay": c.replay, "discard": c.discard} {
			got := ""
			if err := c.letter.May(verb); err != nil {
				got = err.Error()
			}
			want(t, fmt.Sprintf("%s of %+v", verb, c.letter), got, text)
		}
	}
}
