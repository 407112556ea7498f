package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

// TestReplace: the rows of a parent become exactly the elements; those of others stay.
func TestReplace(t *testing.T) {
	lines := newTable("lines", 2, column("id", model.ColInteger), column("no", model.ColInteger), column("text", model.ColText), nullable(column("seen", model.ColText)))
	no, text := field("no", typ(model.Int32)), field("text", typ(model.String))
	line := &model.Type{Name: "Line", Fields: []*model.Field{no, text}}
	id, list := field("id", typ(model.Int32)), field("lines", listOf(model.FieldType{Kind: model.Object, Named: line}))
	elem := func(f *model.Field) model.Value { return model.Value{Kind: model.ElemValue, Field: f} }
	step := &model.Step{Verb: "replace", Table: lines, Each: list, By: lines.PrimaryKey, Replaces: true,
		Where: byName(lines, []*model.Field{id}, nil),
		Set:   []model.Assign{{Column: lines.Columns[1], Value: elem(no)}, {Column: lines.Columns[2], Value: elem(text)}}}
	mark := &model.Step{Verb: "update", Table: lines, Where: byName(lines, []*model.Field{id, no}, nil), If: model.Conditions{Missing: "error"},
		Set: []model.Assign{{Column: lines.Columns[3], Value: constOf("yes")}}}
	in := newFeed(t, service([]*model.Table{lines}, newEvent("Stored", []*model.Field{id, list}, step), newEvent("Seen", []*model.Field{id, no}, mark)))
	in.send("Stored", `{"id":1,"lines":[{"no":1,"text":"a"},{"no":2,"text":"b"}]}`, "applied")
	in.send("Stored", `{"id":2,"lines":[{"no":1,"text":"c"}]}`, "applied")
	in.send("Seen", `{"id":1,"no":2}`, "applied")
	in.send("Stored", `{"id":1,"lines":[{"no":3,"text":"d"},{"no":2,"text":"e"}]}`, "applied")
	in.rows("lines", `id=1  no=2  text="e"  seen="yes"`, `id=1  no=3  text="d"  seen=NULL`, `id=2  no=1  text="c"  seen=NULL`)
	in.send("Stored", `{"id":1,"lines":[{"no":3,"text":"f"},{"no":3,"text":"g"}]}`, "dead letter database")
	in.send("Stored", `{"id":2,"lines":[]}`, "applied")
	in.rows("lines", `id=1  no=2  text="e"  seen="yes"`, `id=1  no=3  text="d"  seen=NULL`)
}
