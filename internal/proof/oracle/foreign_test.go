package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// family has parents, and children that name one; Drop removes a parent.
func family(onDelete string, more ...*model.Event) (*model.Service, *model.Table, *model.Table) {
	id, parent := field("id", typ(model.Int32)), field("parent", opt(model.Int32))
	parents := newTable("parents", 1, column("id", model.ColInteger))
	children := newTable("children", 1, column("id", model.ColInteger), nullable(column("parent", model.ColInteger)))
	children.ForeignKeys = []model.ForeignKey{{Columns: children.Columns[1:], References: parents, OnDelete: onDelete}}
	byID := func(t *model.Table) []model.Assign { return byName(t, []*model.Field{id}, nil) }
	child := func() *model.Step {
		return &model.Step{Verb: "upsert", Table: children, By: children.PrimaryKey, Set: byName(children, []*model.Field{id, parent}, nil)}
	}
	adult := func() *model.Step {
		return &model.Step{Verb: "insert", Table: parents, Set: byName(parents, nil, map[string]model.Value{"id": from(parent)})}
	}
	drop := func(t *model.Table) *model.Step { return &model.Step{Verb: "delete", Table: t, Where: byID(t)} }
	fields := []*model.Field{id, parent}
	return service([]*model.Table{parents, children},
		newEvent("Parent", fields, &model.Step{Verb: "insert", Table: parents, Set: byID(parents)}),
		newEvent("Child", fields, child()), newEvent("Drop", fields, drop(parents)), newEvent("DropChild", fields, drop(children)),
		newEvent("ChildFirst", fields, child(), adult()), newEvent("DropBoth", fields, drop(parents), drop(children)),
		newEvent("Again", fields, drop(parents), &model.Step{Verb: "insert", Table: parents, Set: byID(parents)})), parents, children
}

func TestForeignKeysAreCheckedWhenTheStepEnds(t *testing.T) {
	s, _, _ := family("restrict")
	in := newFeed(t, s)
	in.send("Child", `{"id":1,"parent":1}`, "dead letter database")
	in.send("Child", `{"id":1}`, "applied")
	in.send("ChildFirst", `{"id":2,"parent":5}`, "dead letter database")
	in.send("Parent", `{"id":1}`, "applied")
	in.send("Child", `{"id":1,"parent":1}`, "applied")
	in.send("Child", `{"id":1,"parent":7}`, "dead letter database")
	in.rows("children", "id=1  parent=1")
}

func TestRestrict(t *testing.T) {
	s, _, _ := family("restrict")
	in := newFeed(t, s)
	in.send("Parent", `{"id":1}`, "applied")
	in.send("Child", `{"id":1,"parent":1}`, "applied")
	in.send("Drop", `{"id":1}`, "dead letter database")
	in.send("Again", `{"id":1}`, "dead letter database")
	in.send("DropBoth", `{"id":1}`, "applied") // its own steps remove the child
	in.rows("parents")
	in.rows("children")
	in.send("Drop", `{"id":1}`, "applied")
}

func TestCascadeAndSetNull(t *testing.T) {
	s, _, _ := family("cascade")
	in := newFeed(t, s)
	in.send("Parent", `{"id":1}`, "applied")
	in.send("Child", `{"id":1,"parent":1}`, "applied")
	in.send("Child", `{"id":2,"parent":1}`, "applied")
	in.send("Child", `{"id":3}`, "applied")
	in.send("Drop", `{"id":1}`, "applied")
	in.rows("children", "id=3  parent=NULL")

	s, _, children := family("set_null")
	in = newFeed(t, s)
	in.send("Parent", `{"id":1}`, "applied")
	in.send("Child", `{"id":1,"parent":1}`, "applied")
	in.send("Again", `{"id":1}`, "applied")
	in.rows("children", "id=1  parent=NULL")
	in.send("Child", `{"id":1,"parent":1}`, "applied")
	children.Columns[1].Nullable = false
	in.send("Drop", `{"id":1}`, "dead letter database")
	in.rows("children", "id=1  parent=1") // undone
	in.send("DropChild", `{"id":1}`, "applied")
	in.send("Drop", `{"id":1}`, "applied")
}

func TestCascadeThroughGenerationsAndToItself(t *testing.T) {
	id, up := field("id", typ(model.Int32)), field("up", opt(model.Int32))
	tree := newTable("tree", 1, column("id", model.ColInteger), nullable(column("up", model.ColInteger)))
	tree.ForeignKeys = []model.ForeignKey{{Columns: tree.Columns[1:], References: tree, OnDelete: "cascade"}}
	fields := []*model.Field{id, up}
	in := newFeed(t, service([]*model.Table{tree},
		newEvent("Put", fields, &model.Step{Verb: "upsert", Table: tree, By: tree.PrimaryKey, Set: byName(tree, fields, nil)}),
		newEvent("Drop", fields, &model.Step{Verb: "delete", Table: tree, Where: byName(tree, []*model.Field{id}, nil)})))
	in.send("Put", `{"id":1,"up":1}`, "applied")
	in.send("Put", `{"id":2,"up":1}`, "applied")
	in.send("Put", `{"id":3,"up":2}`, "applied")
	in.send("Put", `{"id":4}`, "applied")
	in.send("Put", `{"id":1,"up":3}`, "applied") // a circle
	in.send("Drop", `{"id":2}`, "applied")
	in.rows("tree", "id=4  up=NULL")
}
