package oracle

import (
	"errors"
	"slices"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestRowsAndDeadLettersAsText(t *testing.T) {
	s := newStock()
	in := newFeed(t, service([]*model.Table{s.Table, newTable("other", 1, column("id", model.ColInteger))}, s.event("Put", &model.Step{Verb: "upsert"}),
		s.event("Add", &model.Step{Verb: "insert"})))
	in.send("Put", `{"id":10,"name":"ten"}`, "applied")
	in.send("Put", `{"id":9,"name":"nine","version":1}`, "applied")
	in.send("Add", `{"id":9,"name":"nine"}`, "dead letter database")
	in.send("Put", `{"id":9}`, "dead letter decode name")
	in.send("Put", `{`, "dead letter decode")
	in.apply(Record{Topic: "t", Partition: 1, Value: []byte(`{}`), Headers: []Header{{"type", []byte("?")}}}, "dead letter unknown_type")
	for text, out := range map[string]Outcome{
		"":                   {Kind: Duplicate, Class: ClassDatabase},
		"database":           {Kind: DeadLetter, Class: ClassDatabase},
		"conflict":           {Kind: Conflict, Class: ClassConflict},
		"decode the payload": {Kind: DeadLetter, Class: ClassDecode},
		"fit items[1].price": {Kind: DeadLetter, Class: ClassFit, Path: "items[1].price"},
	} {
		if got := out.DeadLetter(); got != text {
			t.Errorf("%+v: %q", out, got)
		}
	}
	if got := in.Rows("stock"); !slices.Equal(got, []string{`id=9  version=1  name="nine"  code=NULL`, `id=10  version=NULL  name="ten"  code=NULL`}) {
		t.Errorf("%q", got)
	}
	if got := in.Rows("other"); got != nil {
		t.Errorf("%q", got)
	}
}

func TestOnlyTheDatabasesRefusalsSplitABatch(t *testing.T) {
	s := newStock()
	in := New(service([]*model.Table{s.Table}, s.event("Add", &model.Step{Verb: "insert"})))
	for payload, refused := range map[string]bool{`{"id":1}`: false, `{`: false, `{"id":1,"name":"a"}`: false} {
		if out := in.Apply(Record{Topic: "t", Value: []byte(payload)}); out.Refused != refused {
			t.Errorf("%s: %+v", payload, out)
		}
	}
	if out := in.Apply(Record{Topic: "t", Value: []byte(`{"id":1,"name":"b"}`)}); !out.Refused || out.Class != ClassDatabase {
		t.Errorf("a second row: %+v", out)
	}
}

func TestHandlersWriteWithTheirEvent(t *testing.T) {
	s := newStock()
	e := s.event("Add", &model.Step{Verb: "insert"})
	e.Handle = true
	in := newFeed(t, service([]*model.Table{s.Table}, e))
	in.Handle("Add", func(tables *Tables, v Values) error {
		if v.Text("name") == "bad" {
			_, _ = tables.Delete("stock", Row{})
			return errors.New("bad")
		}
		n, err := tables.Update("stock", Row{"id": v.Get("id")}, Row{"name": v.Text("name") + "!", "version": 7, "code": nil})
		if n != 1 {
			return errors.Join(err, errors.New("the write step has not run"))
		}
		names, _ := tables.Select("stock", "name", Row{"version": "7"})
		return errors.Join(err, tables.Insert("stock", Row{"id": 100 + len(names), "name": names[0][1 : len(names[0])-1]}))
	})
	in.send("Add", `{"id":1,"name":"a"}`, "applied")
	in.send("Add", `{"id":2,"name":"bad"}`, "dead letter handler")
	in.send("Add", `{"id":101,"name":"c"}`, "dead letter database")
	in.send("Add", `{"id":3,"name":"d"}`, "applied")
	in.rows("stock", `id=1  version=7  name="a!"  code=NULL`, `id=3  version=7  name="d!"  code=NULL`, `id=101  version=NULL  name="a!"  code=NULL`,
		`id=102  version=NULL  name="a!"  code=NULL`)
}
