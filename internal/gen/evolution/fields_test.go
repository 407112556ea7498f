package evolution

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// A version with the guard against wrong units refuses times that one without it took.
func TestTheGuardOfATimeIsPartOfWhatAFieldTakes(t *testing.T) {
	millis := model.FieldType{Kind: model.Timestamp, Notation: model.EpochMillis}
	anyMillis := millis
	anyMillis.AnyTime = true
	seconds := model.FieldType{Kind: model.Timestamp, Notation: model.EpochSeconds}
	whole := model.FieldType{Kind: model.Int64}
	list := func(t model.FieldType) model.FieldType { return model.FieldType{Kind: model.List, Elem: &t} }
	payload := &model.Field{Source: model.Source{Kind: model.FromPayload}}
	for _, c := range []struct {
		old, now model.FieldType
		takes    bool
	}{
		{millis, anyMillis, true}, {anyMillis, millis, false}, {anyMillis, anyMillis, true}, {anyMillis, whole, true},
		{list(anyMillis), list(millis), false}, {list(millis), list(anyMillis), true},
		{seconds, whole, false}, // they may have a fraction
		{seconds, model.FieldType{Kind: model.Decimal}, true},
	} {
		if got := new(fields).takes(payload, c.old, c.now); got != c.takes {
			t.Errorf("%s takes what %s took: %v", typeText(c.now), typeText(c.old), got)
		}
	}
}

// A change of a type concerns the events that have a field of it, at whatever depth.
func TestWhichEventsAChangeConcerns(t *testing.T) {
	of := func(t *model.Type) model.FieldType { return model.FieldType{Kind: model.Object, Named: t} }
	deep, other := &model.Type{Name: "Deep"}, &model.Type{Name: "Other"}
	node := &model.Type{Name: "Node", Fields: []*model.Field{{Name: "deep", Type: of(deep)}}}
	self := of(node)
	node.Fields = append(node.Fields, &model.Field{Name: "nodes", Type: model.FieldType{Kind: model.List, Elem: &self}})
	e := &model.Event{Name: "E", Topic: &model.Topic{Name: "t"}, Fields: []*model.Field{{Name: "other", Type: of(other)}, {Name: "node", Type: self}}}
	for path, want := range map[string]bool{
		"types Node fields": true, "types Deep fields": true, "types Other fields x": true, "types None fields": false, "types Node name": false, "types Node": false,
		"topics t fields": true, "topics t record_key": true, "topics t window": false, "topics u fields": false,
		"topics t events E write": true, "topics t events E compare": false, "topics t events F write": false, "topics t events E": false,
	} {
		if got := concerns(strings.Fields(path), e); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
