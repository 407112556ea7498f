package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// stock has rows of id, version, name and a unique code.
type stock struct {
	*model.Table
	id, version, name, code *model.Field
}

func newStock() stock {
	s := stock{newTable("stock", 1, column("id", model.ColInteger), nullable(column("version", model.ColBigint)), column("name", model.ColText),
		nullable(column("code", model.ColText))), field("id", typ(model.Int32)), field("version", opt(model.Int64)), field("name", typ(model.String)),
		field("code", opt(model.String))}
	s.Unique = [][]*model.Column{{s.Columns[3]}}
	return s
}

func (s stock) fields() []*model.Field { return []*model.Field{s.id, s.version, s.name, s.code} }

func (s stock) event(name string, step *model.Step) *model.Event {
	step.Table = s.Table
	switch step.Verb {
	case "insert", "upsert":
		step.Set = byName(s.Table, s.fields(), nil)
	case "update":
		step.Set = byName(s.Table, []*model.Field{s.version, s.name}, nil)
	}
	if step.By == nil {
		step.By = s.PrimaryKey
	}
	if step.Where == nil {
		step.Where = byName(s.Table, []*model.Field{s.id}, nil)
	}
	return newEvent(name, s.fields(), step)
}

func TestInsert(t *testing.T) {
	s := newStock()
	in := newFeed(t, service([]*model.Table{s.Table}, s.event("Add", &model.Step{Verb: "insert", If: model.Conditions{Exists: "error"}}),
		s.event("Try", &model.Step{Verb: "insert", If: model.Conditions{Exists: "skip"}})))
	in.send("Add", `{"id":1,"name":"a","code":"x"}`, "applied")
	in.send("Add", `{"id":1,"name":"b"}`, "dead letter database")
	in.send("Try", `{"id":1,"name":"c"}`, "applied")
	in.send("Try", `{"id":2,"name":"d","code":"x"}`, "dead letter database") // only the primary key may exist
	in.send("Try", `{"id":1,"name":"d","code":"x"}`, "applied")
	in.send("Add", `{"id":2,"name":"e"}`, "applied")
	in.send("Add", `{"id":3,"name":"f"}`, "applied") // NULL is not one code
	in.rows("stock", `id=1  version=NULL  name="a"  code="x"`, `id=2  version=NULL  name="e"  code=NULL`, `id=3  version=NULL  name="f"  code=NULL`)
}

func TestUpsert(t *testing.T) {
	s := newStock()
	in := newFeed(t, service([]*model.Table{s.Table}, s.event("Put", &model.Step{Verb: "upsert"}),
		s.event("ByCode", &model.Step{Verb: "upsert", By: s.Unique[0]})))
	in.send("Put", `{"id":1,"version":5,"name":"a","code":"x"}`, "applied")
	in.send("Put", `{"id":1,"name":"b"}`, "applied")
	in.rows("stock", `id=1  version=NULL  name="b"  code=NULL`)
	in.send("Put", `{"id":2,"name":"c","code":"y"}`, "applied")
	in.send("Put", `{"id":1,"name":"d","code":"y"}`, "dead letter database")
	in.send("ByCode", `{"id":3,"name":"e","code":"y"}`, "applied")
	in.send("ByCode", `{"id":1,"name":"f","code":"y"}`, "dead letter database")
	in.send("ByCode", `{"id":4,"name":"g"}`, "applied") // NULL equals no row
	in.rows("stock", `id=1  version=NULL  name="b"  code=NULL`, `id=3  version=NULL  name="e"  code="y"`, `id=4  version=NULL  name="g"  code=NULL`)
}

func TestUpdate(t *testing.T) {
	s := newStock()
	byName := byName(s.Table, []*model.Field{s.name}, nil)
	clearAll := s.event("Clear", &model.Step{Verb: "update", Where: byName, Many: true, If: model.Conditions{Missing: "error"}})
	clearAll.Steps[0].Set = []model.Assign{{Column: s.Columns[1], Value: model.Value{Kind: model.NullValue}}}
	in := newFeed(t, service([]*model.Table{s.Table}, s.event("Put", &model.Step{Verb: "upsert"}),
		s.event("Change", &model.Step{Verb: "update", If: model.Conditions{Missing: "error"}}), s.event("Touch", &model.Step{Verb: "update", If: model.Conditions{Missing: "skip"}}), clearAll))
	in.send("Change", `{"id":1,"version":1,"name":"a"}`, "dead letter database")
	in.send("Touch", `{"id":1,"version":1,"name":"a"}`, "applied")
	in.rows("stock")
	for _, row := range []string{`{"id":1,"version":1,"name":"a","code":"x"}`, `{"id":2,"version":2,"name":"a"}`, `{"id":3,"version":3,"name":"b"}`} {
		in.send("Put", row, "applied")
	}
	in.send("Change", `{"id":1,"version":7,"name":"a","code":"not written"}`, "applied")
	in.rows("stock", `id=1  version=7  name="a"  code="x"`, `id=2  version=2  name="a"  code=NULL`, `id=3  version=3  name="b"  code=NULL`)
	in.send("Clear", `{"id":9,"name":"a"}`, "applied")
	in.send("Clear", `{"id":9,"name":"z"}`, "dead letter database")
	in.rows("stock", `id=1  version=NULL  name="a"  code="x"`, `id=2  version=NULL  name="a"  code=NULL`, `id=3  version=3  name="b"  code=NULL`)
}

func TestIfNewer(t *testing.T) {
	s := newStock()
	guard := func(v string) *model.Step {
		return &model.Step{Verb: v, If: model.Conditions{Newer: s.Columns[1], Version: from(s.version), Missing: "error"}}
	}
	in := newFeed(t, service([]*model.Table{s.Table}, s.event("Put", guard("upsert")), s.event("Change", guard("update")), s.event("Drop", guard("delete"))))
	for _, c := range []struct{ event, payload, row string }{
		{"Put", `{"id":1,"name":"a"}`, `id=1  version=NULL  name="a"  code=NULL`},
		{"Put", `{"id":1,"name":"b","version":3}`, `id=1  version=3  name="b"  code=NULL`}, // a stored NULL is older
		{"Put", `{"id":1,"name":"c","version":3}`, `id=1  version=3  name="b"  code=NULL`}, // of equals the first stays
		{"Put", `{"id":1,"name":"d","version":2}`, `id=1  version=3  name="b"  code=NULL`},
		{"Put", `{"id":1,"name":"e"}`, `id=1  version=3  name="b"  code=NULL`},
		{"Put", `{"id":1,"name":"f","version":10}`, `id=1  version=10  name="f"  code=NULL`}, // as numbers
		{"Change", `{"id":1,"name":"g","version":10}`, `id=1  version=10  name="f"  code=NULL`},
		{"Change", `{"id":1,"name":"h","version":11}`, `id=1  version=11  name="h"  code=NULL`},
		{"Drop", `{"id":1,"name":"","version":11}`, `id=1  version=11  name="h"  code=NULL`},
	} {
		in.send(c.event, c.payload, "applied")
		in.rows("stock", c.row)
	}
	in.send("Drop", `{"id":1,"name":"","version":12}`, "applied")
	in.rows("stock")
	in.send("Change", `{"id":1,"name":"","version":12}`, "dead letter database")
	in.send("Drop", `{"id":1,"name":""}`, "applied")
}

func TestEventsAreAllOrNothing(t *testing.T) {
	s := newStock()
	log := newTable("log", 1, column("id", model.ColInteger))
	both := s.event("Both", &model.Step{Verb: "upsert"})
	both.Steps = append(both.Steps, &model.Step{Verb: "insert", Table: log, Set: byName(log, s.fields(), nil)})
	in := newFeed(t, service([]*model.Table{s.Table, log}, both))
	in.send("Both", `{"id":1,"name":"a"}`, "applied")
	in.send("Both", `{"id":1,"name":"b","code":"x"}`, "dead letter database")
	in.rows("stock", `id=1  version=NULL  name="a"  code=NULL`)
	in.send("Both", `{"id":2,"name":"c","code":"x"}`, "applied") // the unique key is free again
}

func TestStepsRunInOrder(t *testing.T) {
	s := newStock()
	e := s.event("Swap", &model.Step{Verb: "delete"})
	e.Steps = append(e.Steps, s.event("", &model.Step{Verb: "insert"}).Steps...)
	r := s.event("Back", &model.Step{Verb: "insert"})
	r.Steps = append(r.Steps, s.event("", &model.Step{Verb: "delete"}).Steps...)
	in := newFeed(t, service([]*model.Table{s.Table}, e, r))
	in.send("Swap", `{"id":1,"name":"a"}`, "applied")
	in.send("Swap", `{"id":1,"name":"b"}`, "applied")
	in.rows("stock", `id=1  version=NULL  name="b"  code=NULL`)
	in.send("Back", `{"id":2,"name":"b"}`, "applied")
	in.send("Back", `{"id":1,"name":"b"}`, "dead letter database")
	in.rows("stock", `id=1  version=NULL  name="b"  code=NULL`)
}

func TestEach(t *testing.T) {
	sku, qty := field("sku", typ(model.String)), at("qty", opt(model.Int32), "amount", "n")
	item := &model.Type{Name: "Item", Fields: []*model.Field{sku, qty}}
	order := field("order_id", typ(model.Int32))
	items, tags := field("items", listOf(model.FieldType{Kind: model.Object, Named: item})), field("tags", model.FieldType{Kind: model.List, Elem: &model.FieldType{Kind: model.String}, Optional: true})
	lines := newTable("lines", 2, column("order_id", model.ColInteger), column("line", model.ColInteger),
		&model.Column{Name: "sku", Type: model.ColType{Kind: model.ColVarchar, Len: 3}}, nullable(column("qty", model.ColInteger)))
	labels := newTable("labels", 2, column("order_id", model.ColInteger), column("tag", model.ColText))
	member := func(f *model.Field) model.Value { return model.Value{Kind: model.ElemValue, Field: f} }
	e := newEvent("Placed", []*model.Field{order, items, tags},
		&model.Step{Verb: "upsert", Table: lines, Each: items, By: lines.PrimaryKey, Set: byName(lines, []*model.Field{order}, map[string]model.Value{
			"line": {Kind: model.PositionValue}, "sku": member(sku), "qty": member(qty)})},
		&model.Step{Verb: "insert", Table: labels, Each: tags, If: model.Conditions{Exists: "error"}, Set: byName(labels, []*model.Field{order}, map[string]model.Value{
			"tag": {Kind: model.ElemValue}})})
	in := newFeed(t, service([]*model.Table{lines, labels}, e))
	in.send("Placed", `{"order_id":1,"items":[{"sku":"a","amount":{"n":2}},{"sku":"b"}],"tags":["x","y"]}`, "applied")
	in.send("Placed", `{"order_id":2,"items":[]}`, "applied")
	in.send("Placed", `{"order_id":1,"items":[{"sku":"c"}],"tags":null}`, "applied")
	in.send("Placed", `{"order_id":3,"items":[{"sku":"d"},{"sku":"long"}]}`, "dead letter fit items[1].sku")
	in.send("Placed", `{"order_id":4,"items":[],"tags":["z","z"]}`, "dead letter database")
	in.rows("lines", `order_id=1  line=1  sku="c"  qty=NULL`, `order_id=1  line=2  sku="b"  qty=NULL`)
	in.rows("labels", `order_id=1  tag="x"`, `order_id=1  tag="y"`)
}

func TestDefaultsAndColumnsOfTheDatabase(t *testing.T) {
	id := field("id", typ(model.Int32))
	tab := newTable("t", 1, column("id", model.ColInteger), column("number", model.ColBigint), column("state", model.ColText),
		column("made", model.ColTimestamptz), column("seen", model.ColTimestamptz), nullable(column("note", model.ColText)))
	tab.Columns[1].Identity = true
	tab.Columns[2].Default = &model.Default{Const: &model.Constant{Text: "new"}}
	tab.Columns[3].Default = &model.Default{Func: "now()"}
	tab.Unique = [][]*model.Column{{tab.Columns[1]}, {tab.Columns[4]}}
	put := &model.Step{Verb: "upsert", Table: tab, By: tab.PrimaryKey, Set: byName(tab, []*model.Field{id}, map[string]model.Value{"seen": {Kind: model.NowValue}})}
	mark := &model.Step{Verb: "update", Table: tab, Where: byName(tab, []*model.Field{id}, nil), If: model.Conditions{Missing: "error"},
		Set: byName(tab, nil, map[string]model.Value{"state": constOf("old"), "note": constOf("x")})}
	in := newFeed(t, service([]*model.Table{tab}, newEvent("Put", []*model.Field{id}, put), newEvent("Mark", []*model.Field{id}, mark)))
	in.send("Put", `{"id":1}`, "applied")
	in.send("Put", `{"id":2}`, "applied")
	in.send("Mark", `{"id":1}`, "applied")
	in.send("Put", `{"id":1}`, "applied") // what an upsert leaves out stays
	in.rows("t", `id=1  state="old"  note="x"`, `id=2  state="new"  note=NULL`)
	if got := in.Columns("t"); len(got) != 3 || got[1] != "state" {
		t.Errorf("%q", got)
	}
}

func TestNotNull(t *testing.T) {
	id, name := field("id", typ(model.Int32)), field("name", opt(model.String))
	tab := newTable("t", 1, column("id", model.ColInteger), column("name", model.ColText))
	in := newFeed(t, service([]*model.Table{tab}, newEvent("E", []*model.Field{id, name},
		&model.Step{Verb: "insert", Table: tab, Set: byName(tab, []*model.Field{id, name}, nil)})))
	in.send("E", `{"id":1}`, "dead letter database")
	in.rows("t")
}
