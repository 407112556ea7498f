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

// A binary number has the length of its type.
func TestABinaryNumberTakesOneLength(t *testing.T) {
	short, long := model.FieldType{Kind: model.Int32}, model.FieldType{Kind: model.Int64}
	for what, c := range map[string]struct {
		source model.Source
		binary bool
		takes  bool
	}{
		"a header": {model.Source{Kind: model.FromHeader}, false, true}, "a binary header": {model.Source{Kind: model.FromHeader, Binary: true}, false, false},
		"a record key": {model.Source{Kind: model.FromRecordKey}, false, true}, "a binary record key": {model.Source{Kind: model.FromRecordKey}, true, false},
		"a member beside a binary record key": {model.Source{Kind: model.FromPayload}, true, true},
	} {
		compared := &fields{binary: c.binary}
		if got := compared.takes(&model.Field{Source: c.source}, short, long); got != c.takes {
			t.Errorf("%s of 8 bytes takes 4: %v", what, got)
		}
	}
	if new(fields).takes(&model.Field{SamePart: &model.KeyPart{}}, short, long) == (&fields{binary: true}).takes(&model.Field{SamePart: &model.KeyPart{}}, short, long) {
		t.Error("a member that repeats a part of a binary record key may get another length")
	}
}

// verdicts are what a plan says, one line for each change.
func verdicts(t *testing.T, old, now string) string {
	t.Helper()
	var all []string
	for _, c := range Compare(load(t, old), load(t, now)) {
		all = append(all, string(c.Verdict))
	}
	return strings.Join(all, " ")
}

// A field that repeats a part of the record key may be dropped: older records have the part, with
// the same value.
func TestAFieldThatRepeatsAPartOfTheRecordKeyMayBeDropped(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
tables: {rows: {primary_key: [id], columns: {id: text, n: integer}}}
topics:
  t.v1:
    record_key: {id: string}
    idempotency_key: {source: {header: k}, window: 8d}
    events: {A: {fields: {FIELD}, write: [{insert: rows}]}}
`
	with, without := strings.Replace(spec, "FIELD", "id: string, n: int32", 1), strings.Replace(spec, "FIELD", "n: int32", 1)
	if got := verdicts(t, with, without); strings.Contains(got, string(DeadLetters)) {
		t.Errorf("got %s", got)
	}
	at := func(spec, path string) string {
		return strings.Replace(spec, "record_key: {id: string}", "record_key: {id: {type: string, path: "+path+"}}", 1)
	}
	for _, now := range []string{with, without} {
		if got := verdicts(t, at(with, "a"), at(now, "b")); !strings.Contains(got, string(DeadLetters)) {
			t.Errorf("the part is elsewhere: got %s", got)
		}
	}
}

// Keys that contain the topic's name are others once the topic is.
func TestKeysWithTheTopicsNameFollowIt(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
topics:
  orders:
    name: orders.v1
    idempotency_key: {source: [id, topic], window: 8d}
    events: {A: {fields: {id: string, topic: {type: string, record: topic}}, handle: true}}
`
	if got := verdicts(t, spec, strings.Replace(spec, "orders.v1", "orders.v2", 1)); !strings.Contains(got, string(BreaksDedup)) {
		t.Errorf("got %s", got)
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
