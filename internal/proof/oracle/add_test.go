package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// purse has rows of id, a whole number and a decimal.
type purse struct {
	*model.Table
	id, coins, sum *model.Field
}

func newPurse() purse {
	p := purse{newTable("purse", 1, column("id", model.ColInteger), column("coins", model.ColInteger), column("sum", model.ColNumeric), nullable(column("first", model.ColInteger))),
		field("id", typ(model.Int32)), field("coins", typ(model.Int32)), field("sum", typ(model.Decimal))}
	p.Columns[2].Type.Precision, p.Columns[2].Type.Scale = 5, 2
	return p
}

// event adds coins and takes sum away.
func (p purse) event(name string, step *model.Step) *model.Event {
	step.Verb, step.Table = "add", p.Table
	step.Where = byName(p.Table, []*model.Field{p.id}, nil)
	step.Set = byName(p.Table, []*model.Field{p.coins, p.sum}, nil)
	step.Set[0].How, step.Set[1].How = model.Adds, model.Subtracts
	if step.If.Missing == "" {
		step.By, step.Set, step.Where = p.PrimaryKey, append(step.Where, step.Set...), nil
		step.Set = append(step.Set, model.Assign{Column: p.Columns[3], Value: from(p.coins), How: model.Keeps})
	}
	return newEvent(name, []*model.Field{p.id, p.coins, p.sum}, step)
}

func TestAdd(t *testing.T) {
	p := newPurse()
	in := newFeed(t, service([]*model.Table{p.Table}, p.event("Add", &model.Step{If: model.Conditions{Missing: "error"}}), p.event("Try", &model.Step{If: model.Conditions{Missing: "skip"}}), p.event("Make", &model.Step{})))
	in.send("Add", `{"id":1,"coins":1,"sum":1}`, "dead letter database")
	in.send("Try", `{"id":1,"coins":1,"sum":1}`, "applied")
	in.rows("purse")
	in.send("Make", `{"id":1,"coins":3,"sum":1.5}`, "applied")
	in.send("Make", `{"id":1,"coins":4,"sum":-2}`, "applied")
	in.rows("purse", `id=1  coins=7  sum=0.50  first=3`)
	in.send("Add", `{"id":1,"coins":-9,"sum":0.25}`, "applied")
	in.send("Try", `{"id":1,"coins":2,"sum":0}`, "applied")
	in.rows("purse", `id=1  coins=0  sum=0.25  first=3`)
}

func TestAddStaysInTheRangeOfItsColumn(t *testing.T) {
	p := newPurse()
	in := newFeed(t, service([]*model.Table{p.Table}, p.event("Make", &model.Step{})))
	in.send("Make", `{"id":1,"coins":2147483647,"sum":999.99}`, "applied")
	in.send("Make", `{"id":1,"coins":1,"sum":0}`, "dead letter database")
	in.send("Make", `{"id":1,"coins":0,"sum":0.01}`, "dead letter database")
	in.send("Make", `{"id":1,"coins":-1,"sum":-0.01}`, "applied")
	in.rows("purse", `id=1  coins=2147483646  sum=-999.98  first=2147483647`)
}

func TestUpsertKeepsColumns(t *testing.T) {
	s := newStock()
	e := s.event("Put", &model.Step{Verb: "upsert"})
	e.Steps[0].Set[2].How = model.Keeps
	in := newFeed(t, service([]*model.Table{s.Table}, e))
	in.send("Put", `{"id":1,"version":5,"name":"a"}`, "applied")
	in.send("Put", `{"id":1,"version":4,"name":"b"}`, "applied")
	in.rows("stock", `id=1  version=4  name="a"  code=NULL`)
}
