package oracle

import (
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestMapsOfJSON(t *testing.T) {
	price := &model.Type{Name: "Price", Fields: []*model.Field{{Name: "amount", Type: typ(model.Int32), Source: model.Source{Kind: model.FromPayload, Path: []string{"amount"}}}}}
	ints, text := typ(model.Int32), typ(model.String)
	object := model.FieldType{Kind: model.Object, Named: price}
	of := func(t *model.FieldType) model.FieldType { return model.FieldType{Kind: model.Map, Elem: t} }
	deep := of(&ints)
	for _, c := range []struct {
		typ        model.FieldType
		json, want string
	}{
		{of(&ints), `{}`, `{}`},
		{of(&ints), `{"b":2,"a":"1","":0}`, `{"":0,"a":1,"b":2}`},
		{of(&text), `{"a\u0041":"\n"}`, `{"aA":"\n"}`},
		{of(&object), `{"x":{"amount":1,"more":null}}`, `{"x":{"amount":1}}`},
		{of(&deep), `{"x":{"z":1,"y":2}}`, `{"x":{"y":2,"z":1}}`},
		{of(&ints), `[]`, `decode v`},
		{of(&ints), `null`, `decode v`},
		{of(&ints), `{"a":null}`, `decode v`},
		{of(&ints), `{"a":"x"}`, `decode v`},
		{of(&ints), `{"a":1,"\u0061":1}`, `decode v`},
		{of(&ints), `{"\u0000":1}`, `decode v`},
		{of(&ints), `{"\ud800":1}`, `decode v`},
		{of(&object), `{"x":{}}`, `decode v`},
		{of(&object), `{"x":{"amount":true}}`, `decode v`},
		{of(&deep), `{"x":{"y":1,"y":2}}`, `decode v`},
		{of(&deep), `{"x":{"y":1`, `decode v`},
	} {
		f := &model.Field{Name: "v", Type: c.typ, Source: model.Source{Kind: model.FromPayload, Path: []string{"v"}}}
		if got := decodes(t, f, `{"v":`+c.json+`}`); got != c.want {
			t.Errorf("%s: got %s, want %s", c.json, got, c.want)
		}
	}
}

func TestContentOfAMapDoesNotDependOnTheOrderOfItsNames(t *testing.T) {
	a, b := mapping{"x": int64(1), "y": "2"}, mapping{"y": "2", "x": int64(1)}
	if content(a) != content(b) || content(a) == content(mapping{"x": int64(1)}) || content(a) == content(mapping{"x": "1", "y": "2"}) {
		t.Error(content(a), content(b))
	}
}

// A map is read before its members are, and an error in it names none of them.
func TestFaultInAMapIsOneOfTheMap(t *testing.T) {
	text := typ(model.String)
	labels := &model.Field{Name: "labels", Type: model.FieldType{Kind: model.Map, Elem: &text}, Source: model.Source{Kind: model.FromPayload, Path: []string{"labels"}}}
	colour := &model.Field{Name: "colour", Type: opt(model.String), Source: model.Source{Kind: model.FromPayload, Path: []string{"labels", "colour"}}}
	for _, json := range []string{`{"labels":{"colour":5}}`, `{"labels":{"colour":"x`, `{"labels":{"colour":}}`} {
		in := New(service(nil, newEvent("E", []*model.Field{colour, labels})))
		r := &Record{Topic: "t", Value: []byte(json)}
		if _, err := in.read(in.service.Topics[0].Events[0], r, &payload{record: r}); err == nil || err.path != "labels" {
			t.Errorf("%s: got %v", json, err)
		}
	}
}
