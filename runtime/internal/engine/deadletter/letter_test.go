package deadletter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A letter says why its record was rejected, and what helps to find out.
func TestReasonOfALetter(t *testing.T) {
	t.Parallel()
	m, policy := &wire.Message{Offset: 4}, &wire.FailurePolicy{}
	pg := fmt.Errorf("row: %w", &pgconn.PgError{Code: "23514", Message: "no\x00"})
	missing := &wire.DecodeError{Event: "Paid", Path: "id", Reason: "is missing"}
	conflict := fmt.Errorf("a key: %w", &wire.ConflictError{Event: "Paid", Key: wire.Key{7}})
	for want, l := range map[string]deadletter.Letter{
		`handler: Paid: row: : no (SQLSTATE 23514)|Paid|23514||`: deadletter.Of(m, policy, "handler", "Paid", pg),
		`limit: too many||||`:                           deadletter.Of(m, policy, "limit", "", errors.New("too many")),
		`effect: Paid: status 422|Paid||no such card|`:  deadletter.Of(m, policy, "effect", "Paid", refusal("no such card")),
		`decode: Paid: id is missing|Paid|||`:           deadletter.Undecided(m, policy, missing),
		`decode: no rule||||`:                           deadletter.Undecided(m, policy, errors.New("no \x00rule")),
		conflict.Error()[len("a key: "):] + `|Paid|||7`: deadletter.Undecided(m, policy, conflict),
	} {
		var state, key string
		if l.SQLState != nil {
			state = *l.SQLState
		}
		if l.Key != nil {
			key = fmt.Sprint(l.Key[0])
		}
		rig.Want(t, "letter", strings.Join([]string{l.Reason, l.Event, state, string(l.Response), key}, "|"), want)
		if l.Message != m || l.Policy != policy || l.Conflict != (key != "") || l.Waits {
			t.Errorf("%s: %+v", l.Reason, l)
		}
	}
	behind := deadletter.Behind(m, policy)
	if behind.Message != m || behind.Policy != policy || !behind.Waits || !strings.HasPrefix(behind.Reason, "parked: ") {
		t.Errorf("behind: %+v", behind)
	}
	for length, kept := range map[int]int{0: 0, 499: 499, 500: 500, 501: 500} {
		rig.Want(t, "bytes of a response", len(deadletter.ResponseOf(refusal(strings.Repeat("x", length)))), kept)
	}
	if deadletter.ResponseOf(errors.New("no response")) != nil {
		t.Error("an error without a response has one")
	}
}

// The result of a call is kept, and says so if it is nothing. The key of the call is the letter's,
// unless it has one of its own.
func TestResultOfACallIsKept(t *testing.T) {
	t.Parallel()
	own := &wire.UUID{9}
	for want, c := range map[string]struct {
		key    *wire.UUID
		result []byte
	}{"7 null": {nil, nil}, "7 5": {nil, []byte("5")}, "9 null": {own, nil}, "9 5": {own, []byte("5")}} {
		l := deadletter.Letter{Key: c.key}
		l.Called(wire.EffectResult{Key: wire.Key{7}, Result: c.result})
		rig.Want(t, "key and result", fmt.Sprintf("%d %s", l.Key[0], l.Returned), want)
	}
}

// inserted is a row that a statement inserts: its values as Postgres reads them, one per column.
func inserted(t *testing.T, l deadletter.Letter) []string {
	t.Helper()
	all := deadletter.Statements(3, 9, time.UnixMicro(0), []deadletter.Letter{l})
	if len(all) != 1 {
		t.Fatalf("%d statements", len(all))
	}
	args, at := all[0].Args, ledger.Timestamp(time.UnixMicro(0))
	rig.Want(t, "stream and row", fmt.Sprint(args[:2]), fmt.Sprint([][]byte{ledger.Int4(3), ledger.Int8(9)}))
	rig.Want(t, "time and version", fmt.Sprint(args[14:]), fmt.Sprint([][]byte{at, []byte(process.Version())}))
	var values []string
	for _, array := range args[2:14] {
		const header = 20 // of an array of one dimension
		if value := array[header+4:]; string(array[header:header+4]) == "\xff\xff\xff\xff" {
			values = append(values, "NULL")
		} else {
			values = append(values, string(value))
		}
	}
	return values
}

// What a letter stores: its record and the response unless they are dropped, or the record is very
// long; a record that waits is kept always. Whether a result was recorded is known even then.
func TestRowOfALetter(t *testing.T) {
	t.Parallel()
	long, state, key := make([]byte, 16<<20), "23514", wire.UUID{8}
	const null, no, yes = "NULL", "\x00", "\x01"
	columns := []string{
		"offs", "waits", "parks", "event", "reason", "sqlstate", "order_key", "key", "result", "response", "record", "keep",
	}
	for name, c := range map[string]struct {
		change func(*deadletter.Letter)
		but    map[string]string // columns with another value than that of a full letter
	}{
		"all of it": {func(*deadletter.Letter) {}, nil},
		"little": {func(l *deadletter.Letter) {
			l.Event, l.SQLState, l.Message.Key, l.Key, l.Returned, l.Response = "", nil, nil, nil, nil, nil
		}, map[string]string{
			"event": null, "sqlstate": null, "order_key": null, "key": null, "result": null, "response": null,
		}},
		"dropped": {func(l *deadletter.Letter) {
			l.Policy.Drop = true
		}, map[string]string{"result": "", "response": null, "record": null}},
		"dropped, without a result": {func(l *deadletter.Letter) {
			l.Policy.Drop, l.Returned = true, nil
		}, map[string]string{"result": null, "response": null, "record": null}},
		"longest": {func(l *deadletter.Letter) { l.Message.Value = long }, nil},
		"too long": {func(l *deadletter.Letter) {
			l.Message.Value = append(long, 0)
		}, map[string]string{"result": "", "response": null, "record": null}},
		"waits": {func(l *deadletter.Letter) {
			l.Policy.Drop, l.Waits = true, true
		}, map[string]string{"waits": yes, "parks": yes}},
		"parks": {func(l *deadletter.Letter) { l.Policy.Park = true }, map[string]string{"parks": yes}},
		"parks without a record key": {func(l *deadletter.Letter) {
			l.Policy.Park, l.Message.Key = true, nil
		}, map[string]string{"order_key": null}},
	} {
		l := deadletter.Letter{
			Message: &wire.Message{Offset: 4, Key: []byte("k"), Value: []byte("v")}, Event: "Paid", Reason: "why",
			SQLState: &state, Key: &key, Returned: []byte("5"), Response: []byte("r"),
			Policy: &wire.FailurePolicy{Keep: time.Millisecond},
		}
		order := record.OrderKey(l.Message.Key)
		c.change(&l)
		want := []string{
			string(ledger.Int8(4)), no, no, "Paid", "why", state, string(order[:]), string(key[:]), "5", "r",
			string(record.Append(nil, l.Message)), string(ledger.Int8(1000)),
		}
		for i, got := range inserted(t, l) {
			if other, ok := c.but[columns[i]]; ok {
				want[i] = other
			}
			if got != want[i] {
				t.Errorf("%s: %s is %.40q, want %.40q", name, columns[i], got, want[i])
			}
		}
	}
	if deadletter.Statements(3, 9, time.Now(), nil) != nil {
		t.Error("a statement about no letters")
	}
}
