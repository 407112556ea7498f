package definition

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Versions that compare JSON differently do not compare their fingerprints: the definition of
// content with a json, or with a decimal in an object, a list or a map, is another one than when
// these were compared as texts. All other definitions are those of before: they are stored.
func TestAWayOfComparingIsPartOfTheDefinition(t *testing.T) {
	list := func(of model.Kind) model.FieldType {
		return model.FieldType{Kind: model.List, Elem: &model.FieldType{Kind: of}}
	}
	deep := model.FieldType{Kind: model.Map, Elem: &model.FieldType{Kind: model.Object, Named: &model.Type{Fields: []*model.Field{
		{Name: "m", Type: list(model.JSON), Source: model.Source{Kind: model.FromPayload, Path: []string{"m"}}},
	}}}}
	for name, c := range map[string]struct {
		of  model.FieldType
		def string
		way string
	}{
		"json":          {model.FieldType{Kind: model.JSON}, "json", "content 2"},
		"list(json)":    {list(model.JSON), "list(json)", "content 2"},
		"list(decimal)": {list(model.Decimal), "list(decimal)", "content 2"},
		"map(object)":   {deep, "map(object(m list(json)))", "content 2"},
		"decimal":       {model.FieldType{Kind: model.Decimal}, "decimal", "content 1"},
		"list(int32)":   {list(model.Int32), "list(int32)", "content 1"},
		"text":          {model.FieldType{Kind: model.String}, "string", "content 1"},
	} {
		f := &model.Field{Name: "f", Type: c.of, Source: model.Source{Kind: model.FromPayload, Path: []string{"f"}}}
		e := &model.Event{Name: "E", Key: &model.IdempotencyKey{Compared: []*model.Field{f}}}
		if got, want := Content(e), Hash(c.way, "E", "f "+c.def); got != want {
			t.Errorf("%s: %08x, want %08x", name, got, want)
		}
	}
}
