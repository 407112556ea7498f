package deadletter_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idemgen/internal/ledger"
	"github.com/idemgen/idemgen/internal/process"
	"github.com/idemgen/idemgen/runtime/idemtype"
	"github.com/idemgen/idemgen/runtime/internal/engine/deadletter"
	"github.com/idemgen/idemgen/runtime/internal/rig"
	"github.com/idemgen/idemgen/runtime/wire"
)

// refusing is a database that answers no query.
type refusing struct{ err error }

func (r refusing) Query(context.Context, string, ...any) (pgx.Rows, error) { return nil, r.err }

// A database that does not answer is not one without letters. About no letters it is not asked.
func TestDatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	db := refusing{errors.New("no answer")}
	_, asked := deadletter.Asked(t.Context(), db, idemtype.Partition{}, 1, nil, deadletter.Held{})
	_, still := deadletter.Still(t.Context(), db, 1, []deadletter.Place{{Offset: 4, Seq: 2}})
	parked := deadletter.Parked{}
	parked.Forward([]deadletter.Move{{Dead: 1}})
	for name, err := range map[string]error{"asked": asked, "still": still, "parked": parked.Load(t.Context(), db, 1)} {
		if !errors.Is(err, db.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !parked.None() {
		t.Error("what was known before a load stays")
	}
	if since, err := deadletter.Still(t.Context(), db, 1, nil); len(since) > 0 || err != nil {
		t.Errorf("%v, %v", since, err)
	}
}

// The answer to an operator says what the record did; a result that was recorded before counts
// more than the given one.
func TestAnswerToARequest(t *testing.T) {
	t.Parallel()
	given, other := []byte("5"), []byte("6")
	applied, again := idemtype.Result{Applied: 1}, idemtype.Result{Duplicates: 1}
	const (
		redo      = deadletter.Replayed
		replayed  = "replayed"
		duplicate = "replayed, without effect: a duplicate of it was applied before"
		ignored   = "replayed, without effect: the spec ignores it"
		instead   = "replayed with the result recorded before, instead of the one that was given"
	)
	for name, c := range map[string]struct {
		state   byte
		given   []byte
		did     idemtype.Result
		results [][]byte
		want    string
		other   bool
	}{
		"applied":                       {redo, nil, applied, nil, replayed, false},
		"a duplicate":                   {redo, nil, again, nil, duplicate, false},
		"ignored":                       {redo, nil, idemtype.Result{Ignored: 1}, nil, ignored, false},
		"with a result of its call":     {redo, nil, applied, [][]byte{other}, replayed, false},
		"with the given result":         {redo, given, applied, [][]byte{given}, replayed, false},
		"with another result":           {redo, given, applied, [][]byte{given, other}, instead, true},
		"a duplicate, another result":   {redo, given, again, [][]byte{other}, duplicate, true},
		"discarded":                     {deadletter.Discarded, given, again, [][]byte{other}, "before", false},
		"the record of a parked letter": {deadletter.Dead, nil, idemtype.Result{Dead: 1}, nil, "before", false},
	} {
		s := deadletter.Settling{Letter: &deadletter.Open{Result: c.given}, State: c.state, Answer: "before"}
		var effects []wire.EffectResult
		for _, r := range c.results {
			effects = append(effects, wire.EffectResult{Result: r})
		}
		s.Decided(c.did, effects)
		rig.Want(t, name, s.Answer, c.want)
		rig.Want(t, name+": another result", s.Other, c.other)
		rig.Want(t, name+": the request gives a result", s.Gives(), c.state == deadletter.Replayed && c.given != nil)
	}
	for state, want := range map[byte]string{
		deadletter.Replayed: "replayed", deadletter.Discarded: "discarded", deadletter.Dead: "refused",
	} {
		s := deadletter.Settling{Letter: &deadletter.Open{Offset: 4, By: "ann: old"}, State: state}
		rig.Want(t, "info", s.Info(), want+" offset 4 for ann: old")
	}
}

// The statement that settles a letter replaces what the record's new dead letter has, and nothing
// else; a record that is not kept leaves neither a result nor a response.
func TestStatementThatSettlesALetter(t *testing.T) {
	t.Parallel()
	l := &deadletter.Open{Offset: 4, Seq: 2, State: deadletter.Waiting, By: "ann", AskedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
	key := wire.UUID{8}
	dead := deadletter.Letter{Reason: "why", Returned: []byte("5"), Response: []byte("r"), Key: &key}
	plain := dead
	plain.Key, plain.Returned, plain.Response = nil, nil, nil
	null, why, five := []byte(nil), []byte("why"), []byte("5")
	for name, c := range map[string]struct {
		state byte
		dead  *deadletter.Letter
		drop  bool
		want  [][]byte // from the reason on
	}{
		"replayed":           {deadletter.Replayed, nil, false, [][]byte{null, {0}, null, null, null}},
		"dead":               {deadletter.Dead, &dead, false, [][]byte{why, {0}, key[:], five, []byte("r")}},
		"dead, not kept":     {deadletter.Dead, &dead, true, [][]byte{why, {1}, key[:], {}, null}},
		"dead, little":       {deadletter.Dead, &plain, false, [][]byte{why, {0}, null, null, null}},
		"dead, never called": {deadletter.Dead, &plain, true, [][]byte{why, {1}, null, null, null}},
	} {
		s := deadletter.Settling{Letter: l, State: c.state, Answer: "answer", Dead: c.dead, Drop: c.drop}
		want := [][]byte{ledger.Int4(3), ledger.Int8(4), ledger.Int8(2), {l.State}, {c.state}, ledger.Int8(9)}
		want = append(append(want, []byte("ann"), []byte("answer")), c.want...)
		want = append(want, []byte(process.Version()), ledger.Timestamp(l.AskedAt))
		rig.Want(t, name, texts(s.Statement(3, 9).Args), texts(want))
	}
}

// texts are values as text, in which NULL and nothing differ.
func texts(values [][]byte) string {
	var all []string
	for _, v := range values {
		if v == nil {
			all = append(all, "NULL")
		} else {
			all = append(all, hex.EncodeToString(v))
		}
	}
	return fmt.Sprintf("%q", all)
}

// Letters hold back a record key while one of them is dead; what waits is counted, and is free
// behind none.
func TestQueuesOfRecordKeys(t *testing.T) {
	t.Parallel()
	a, b, c := wire.UUID{1}, wire.UUID{2}, wire.UUID{3}
	var p deadletter.Parked
	var none *deadletter.Parked
	if !none.None() || !p.None() {
		t.Error("a record key is parked")
	}
	p.Forward([]deadletter.Move{{Key: a, Dead: 1}, {Key: a, Waiting: 1}, {Key: a, Waiting: 1}})
	p.Forward([]deadletter.Move{{Key: b, Dead: 1, Waiting: 1}, {Key: c, Dead: 1}})
	p.Forward([]deadletter.Move{{Key: b, Dead: -1}, {Key: c, Dead: -1}})
	want := func(what string, key wire.UUID, want deadletter.Queue, is bool) {
		t.Helper()
		if q, ok := p.Find(key); q != want || ok != is {
			t.Errorf("%s: %+v, %t", what, q, ok)
		}
	}
	want("a", a, deadletter.Queue{Dead: 1, Waiting: 2}, true)
	want("b", b, deadletter.Queue{Waiting: 1}, true)
	want("c", c, deadletter.Queue{}, false)
	if keys, waiting := p.Len(); keys != 2 || waiting != 3 || p.None() {
		t.Errorf("%d keys, %d wait", keys, waiting)
	}
	free := func(most int, held ...wire.UUID) int {
		return len(p.Free(most, func(key wire.UUID) bool { return slices.Contains(held, key) }))
	}
	rig.Want(t, "free", fmt.Sprint(p.Free(9, func(wire.UUID) bool { return false })), fmt.Sprint([]wire.UUID{b}))
	rig.Want(t, "free, but held", free(9, b), 0)
	p.Forward([]deadletter.Move{{Key: a, Dead: -1}})
	for most := range 4 {
		rig.Want(t, fmt.Sprint("free of at most ", most), free(most), min(most, 2))
	}
	rig.Want(t, "free, one held", free(9, a), 1)
	p.Forward([]deadletter.Move{{Key: a, Waiting: -2}, {Key: b, Waiting: -1}})
	if keys, waiting := p.Len(); keys != 0 || waiting != 0 || !p.None() {
		t.Errorf("at last, %d keys, %d wait", keys, waiting)
	}
}

// What a letter changes in the queue of its record key: as it comes, and as it is settled.
func TestMovesOfALetter(t *testing.T) {
	t.Parallel()
	m, without := &wire.Message{Key: []byte("k")}, &wire.Message{}
	key := *deadletter.OrderKey(m)
	parks, goesOn := &wire.FailurePolicy{Park: true}, &wire.FailurePolicy{}
	moves := func(moves []deadletter.Move) (text string) {
		for _, move := range moves {
			rig.Want(t, "key", move.Key, key)
			text += fmt.Sprintf("%+d dead %+d waiting;", move.Dead, move.Waiting)
		}
		return text
	}
	for name, c := range map[string]struct {
		l    deadletter.Letter
		want string
	}{
		"dead":               {deadletter.Letter{Message: m, Policy: parks}, "+1 dead +0 waiting;"},
		"waits":              {deadletter.Letter{Message: m, Policy: parks, Waits: true}, "+0 dead +1 waiting;"},
		"waits, by old spec": {deadletter.Letter{Message: m, Policy: goesOn, Waits: true}, "+0 dead +1 waiting;"},
		"does not park":      {deadletter.Letter{Message: m, Policy: goesOn}, ""},
		"no record key":      {deadletter.Letter{Message: without, Policy: parks}, ""},
	} {
		rig.Want(t, name, moves(c.l.Moves()), c.want)
	}
	const dead, waiting, replayed = deadletter.Dead, deadletter.Waiting, deadletter.Replayed
	for name, c := range map[string]struct {
		parks    bool
		key      *wire.UUID
		from, to byte
		want     string
	}{
		"dead, replayed":     {true, &key, dead, replayed, "-1 dead +0 waiting;"},
		"dead, discarded":    {true, &key, dead, deadletter.Discarded, "-1 dead +0 waiting;"},
		"waiting, replayed":  {true, &key, waiting, replayed, "+0 dead -1 waiting;"},
		"waiting, refused":   {true, &key, waiting, dead, "+1 dead -1 waiting;"},
		"nothing is parked":  {false, &key, dead, replayed, ""},
		"without record key": {true, nil, dead, replayed, ""},
	} {
		s := deadletter.Settling{Letter: &deadletter.Open{Parks: c.parks, OrderKey: c.key, State: c.from}, State: c.to}
		rig.Want(t, name, moves(s.Moves()), c.want)
	}
}

// A letter whose record is not there, or was erased, can only be discarded; one whose record
// cannot be read is not without it.
func TestLetterWithoutItsRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		l    deadletter.Open
		want bool
	}{
		"kept":    {deadletter.Open{}, false},
		"erased":  {deadletter.Open{ErasedBy: "ann"}, true},
		"damaged": {deadletter.Open{Lost: errors.New("no record")}, false},
	} {
		rig.Want(t, name, c.l.Dropped(), c.want)
	}
}
