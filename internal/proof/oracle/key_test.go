package oracle

import (
	"errors"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// keyedBy is an event that counts its records in table t under id, with the given key.
func keyedBy(name string, space byte, fields []*model.Field, parts ...model.KeySource) (*model.Event, *model.Table) {
	tab := newTable(name, 1, column("id", model.ColBigint))
	tab.Columns[0].Identity = true
	e := newEvent(name, fields, &model.Step{Verb: "insert", Table: tab})
	e.Key = &model.IdempotencyKey{Parts: parts, Space: [16]byte{space}}
	for _, f := range fields {
		if f.Source.Kind != model.FromRecord {
			e.Key.Compared = append(e.Key.Compared, f)
		}
	}
	return e, tab
}

func TestDuplicateOrConflict(t *testing.T) {
	amount, doc, extra := field("amount", typ(model.Decimal)), field("doc", opt(model.JSON)), header("extra", opt(model.String), "extra")
	meta := &model.Field{Name: "meta", Type: typ(model.Int64), Source: model.Source{Kind: model.FromRecord, Record: "offset"}}
	e, tab := keyedBy("E", 1, []*model.Field{amount, doc, extra, meta}, model.KeySource{Header: "key"})
	in := newFeed(t, service([]*model.Table{tab}, e))
	in.send("E", `{"amount":1.50,"doc":{"a": 1}}`, "applied", "key=k")
	in.send("E", `{"amount":"1.5","doc":{"a":1}, "undeclared":2}`, "duplicate", "key=k")
	in.send("E", `{"amount":15e-1,"doc":{ "a":1 }}`, "duplicate", "key=k", "other=x")
	in.send("E", `{"amount":1.51,"doc":{"a":1}}`, "conflict conflict", "key=k")
	in.send("E", `{"amount":1.50,"doc":{"a":1.0}}`, "duplicate", "key=k")
	in.send("E", `{"amount":1.50,"doc":{"a":2}}`, "conflict conflict", "key=k")
	in.send("E", `{"amount":1.50}`, "conflict conflict", "key=k")
	in.send("E", `{"amount":1.50,"doc":{"a":1}}`, "conflict conflict", "key=k", "extra=x")
	in.send("E", `{"amount":1.50}`, "applied", "key=l")
	in.send("E", `{"amount":1.50,"doc":null}`, "duplicate", "key=l")
	in.send("E", `{"amount":1.50}`, "applied", "key=K")
	if n := len(in.Rows("E")); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	want := []string{"0 3 conflict -", "0 5 conflict -", "0 6 conflict -", "0 7 conflict -"}
	if got := in.DeadLetters(); len(got) != 4 || got[0] != want[0] || got[3] != want[3] {
		t.Errorf("%q", got)
	}
}

func TestKeyPartsAreTypedAndNeverJoined(t *testing.T) {
	a, b := field("a", typ(model.String)), field("b", typ(model.String))
	e, tab := keyedBy("E", 1, []*model.Field{a, b}, model.KeySource{Field: a}, model.KeySource{Field: b})
	in := newFeed(t, service([]*model.Table{tab}, e))
	in.send("E", `{"a":"a-1","b":"2"}`, "applied")
	in.send("E", `{"a":"a","b":"1-2"}`, "applied")
	in.send("E", `{"a":"a-","b":"12"}`, "applied")
	in.send("E", `{"a":"a-1","b":"2"}`, "duplicate")
	in.send("E", `{"a":"x","b":"ytextz"}`, "applied")
	in.send("E", `{"a":"xtexty","b":"z"}`, "applied")
	in.send("E", `{"a":"","b":"2"}`, "dead letter key a")
	in.send("E", `{"a":" ","b":"2"}`, "applied")
	in.send("E", `{"b":"2"}`, "dead letter decode a")

	d, u := field("d", typ(model.Decimal)), field("u", typ(model.UUID))
	e, tab = keyedBy("E", 1, []*model.Field{d, u}, model.KeySource{Field: d}, model.KeySource{Field: u})
	in = newFeed(t, service([]*model.Table{tab}, e))
	in.send("E", `{"d":1.0,"u":"00000000-0000-0000-0000-000000000000"}`, "applied")
	in.send("E", `{"d":"1","u":"00000000-0000-0000-0000-000000000000"}`, "duplicate")
	in.send("E", `{"d":-1,"u":"00000000-0000-0000-0000-00000000000a"}`, "applied")
	in.send("E", `{"d":-1e0,"u":"00000000-0000-0000-0000-00000000000A"}`, "duplicate")
}

func TestKeyHeader(t *testing.T) {
	e, tab := keyedBy("E", 1, nil, model.KeySource{Header: "key"})
	in := newFeed(t, service([]*model.Table{tab}, e))
	in.send("E", ``, "dead letter key header key")
	in.send("E", ``, "dead letter key header key", "key=")
	in.send("E", ``, "dead letter key header key", "Key=k")
	in.apply(Record{Topic: "t", Value: []byte{}, Headers: []Header{{"key", nil}}}, "dead letter key header key")
	in.send("E", ``, "dead letter key header key", "key=k", "key=k")
	in.send("E", ``, "dead letter key header key", "key=\xff")
	in.send("E", ``, "applied", "key=k")
}

func TestKeysOfOneSpaceAreShared(t *testing.T) {
	for _, space := range []byte{1, 2} {
		a, tabA := keyedBy("A", 1, nil, model.KeySource{Header: "key"})
		b, tabB := keyedBy("B", space, nil, model.KeySource{Header: "key"})
		in := newFeed(t, service([]*model.Table{tabA, tabB}, a, b))
		in.send("A", ``, "applied", "key=k")
		in.send("B", ``, map[byte]string{1: "duplicate", 2: "applied"}[space], "key=k")
	}
}

func TestADeadLetterClaimsNothing(t *testing.T) {
	n := field("n", typ(model.Int32))
	e, tab := keyedBy("E", 1, []*model.Field{n}, model.KeySource{Header: "key"})
	e.Handle = true
	in := newFeed(t, service([]*model.Table{tab}, e))
	fail := true
	in.Handle("E", func(*Tables, Values) error {
		if fail {
			return errors.New("no")
		}
		return nil
	})
	in.send("E", `{"n":1}`, "dead letter handler", "key=k")
	fail = false
	in.send("E", `{"n":2}`, "applied", "key=k")
	in.send("E", `{"n":1}`, "conflict conflict", "key=k")
	if n := len(in.Rows("E")); n != 1 {
		t.Errorf("%d rows, want 1: a refused event left its row", n)
	}
}

// What is not compared may differ.
func TestCompare(t *testing.T) {
	a, b := field("a", typ(model.Int32)), field("b", typ(model.Int32))
	e, tab := keyedBy("E", 1, []*model.Field{a, b}, model.KeySource{Header: "key"})
	for what, compared := range map[string][]*model.Field{"conflict conflict": {a}, "duplicate": nil} {
		e.Key.Compared = compared
		in := newFeed(t, service([]*model.Table{tab}, e))
		in.send("E", `{"a":1,"b":1}`, "applied", "key=k")
		in.send("E", `{"a":1,"b":2}`, "duplicate", "key=k")
		in.send("E", `{"a":2,"b":1}`, what, "key=k")
	}
}

func TestOffsetsNeverRepeat(t *testing.T) {
	e, tab := keyedBy("E", 1, nil)
	e.Key = &model.IdempotencyKey{Offset: true}
	in := newFeed(t, service([]*model.Table{tab}, e))
	in.send("E", `{}`, "applied")
	in.send("E", `{}`, "applied")
	if n := len(in.Rows("E")); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

func TestGiveUpStopWritesNoDeadLetter(t *testing.T) {
	e := newEvent("E", []*model.Field{field("n", typ(model.Int32))})
	s := service(nil, e)
	s.Topics[0].OnFailure.GiveUp = "stop"
	in := newFeed(t, s)
	in.send("E", `{}`, "stop decode n")
	if got := in.DeadLetters(); got != nil {
		t.Errorf("%q", got)
	}
}
