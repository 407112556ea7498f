package evolution

import (
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
