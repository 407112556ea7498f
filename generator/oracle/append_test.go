package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/generator/model"
)

// TestAppend: a row gets the next number of its stream, and one that expects another is refused.
func TestAppend(t *testing.T) {
	notes := newTable("notes", 2, column("id", model.ColInteger), column("no", model.ColSmallint), column("text", model.ColText))
	id, no, text := field("id", typ(model.Int32)), field("no", typ(model.Int32)), field("text", typ(model.String))
	event := func(name string, position model.Value) *model.Event {
		step := &model.Step{Verb: "append", Table: notes, By: notes.PrimaryKey, Stream: &model.Stream{Columns: notes.Columns[:1], Position: notes.Columns[1]}}
		step.Set = byName(notes, []*model.Field{id, text}, map[string]model.Value{"no": position})
		return newEvent(name, []*model.Field{id, no, text}, step)
	}
	in := newFeed(t, service([]*model.Table{notes}, event("Next", model.Value{Kind: model.NextValue}), event("Numbered", from(no))))
	in.send("Numbered", `{"id":1,"no":2,"text":"a"}`, "dead letter database")
	in.send("Numbered", `{"id":1,"no":1,"text":"a"}`, "applied")
	in.send("Next", `{"id":1,"no":0,"text":"b"}`, "applied")
	in.send("Next", `{"id":2,"no":0,"text":"c"}`, "applied")
	in.send("Numbered", `{"id":1,"no":2,"text":"d"}`, "dead letter database")
	in.send("Numbered", `{"id":1,"no":4,"text":"d"}`, "dead letter database")
	in.send("Numbered", `{"id":1,"no":3,"text":"d"}`, "applied")
	in.rows("notes", `id=1  no=1  text="a"`, `id=1  no=2  text="b"`, `id=1  no=3  text="d"`, `id=2  no=1  text="c"`)
}
