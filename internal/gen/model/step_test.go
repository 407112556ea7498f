package model

import (
	"reflect"
	"slices"
	"testing"
)

var (
	id, note, seen = &Column{Name: "id"}, &Column{Name: "note"}, &Column{Name: "seen"}
	rows           = &Table{Name: "rows", Columns: []*Column{id, note, seen}, PrimaryKey: []*Column{id}}
)

func field(name string) *Field { return &Field{Name: name, Type: FieldType{Kind: String}} }

func fill(c *Column, f *Field) Assign {
	return Assign{Column: c, Value: Value{Kind: FieldValue, Field: f}}
}

// What is sent with a statement is in the order of its parameters: where, then set, without what
// the statement itself holds, behind a patch whether it is there, then the version and the id.
func TestParams(t *testing.T) {
	a, patch := field("a"), &Field{Name: "p", Type: FieldType{Kind: Int64}, Patch: true}
	constant := Assign{Column: note, Value: Value{Kind: ConstValue, Const: &Constant{Text: "x"}}}
	version := Value{Kind: FieldValue, Field: field("v")}
	outboxed, withID := &Table{Name: "out", Stored: "idem_outbox", Columns: []*Column{note}}, &Table{Name: "idem_outbox", Columns: []*Column{note, id}}
	eventID := Assign{Column: outboxID, Value: Value{Kind: EventIDValue}}
	for name, c := range map[string]struct {
		step Step
		want []Assign
	}{
		"where and set": {Step{Table: rows, Where: []Assign{fill(id, a)}, Set: []Assign{constant, fill(seen, a)}}, []Assign{fill(id, a), fill(seen, a)}},
		"a patch": {Step{Table: rows, Where: []Assign{fill(id, patch)}, Set: []Assign{fill(seen, patch), fill(note, a)}},
			[]Assign{fill(id, patch), {Column: id, Value: Value{Kind: SentValue, Field: patch}}, fill(seen, patch), {Column: seen, Value: Value{Kind: SentValue, Field: patch}}, fill(note, a)}},
		"a version that is set": {Step{Table: rows, Set: []Assign{fill(seen, a)}, If: Conditions{Newer: seen, Version: version}}, []Assign{fill(seen, a)}},
		"a version that is not set": {Step{Table: rows, Where: []Assign{fill(id, a)}, Set: []Assign{fill(note, a)}, If: Conditions{Newer: seen, Version: version}},
			[]Assign{fill(id, a), fill(note, a), {Column: seen, Value: version}}},
		"constants alone":               {Step{Table: rows, Set: []Assign{constant}}, []Assign{{Value: Value{Kind: PositionValue}}}},
		"an event of the outbox":        {Step{Table: outboxed, Facts: Facts{Makes: true}, Set: []Assign{fill(note, a)}}, []Assign{fill(note, a), eventID}},
		"one of constants":              {Step{Table: outboxed, Facts: Facts{Makes: true}, Set: []Assign{constant}}, []Assign{eventID}},
		"an id of the spec":             {Step{Table: withID, Facts: Facts{Makes: true}, Set: []Assign{fill(id, a)}}, []Assign{fill(id, a)}},
		"an id that the spec leaves":    {Step{Table: withID, Facts: Facts{Makes: true}, Set: []Assign{fill(note, a)}}, []Assign{fill(note, a), {Column: id, Value: Value{Kind: EventIDValue}}}},
		"a row of the outbox that goes": {Step{Table: outboxed, Facts: Facts{Removes: true}, Where: []Assign{fill(note, a)}}, []Assign{fill(note, a)}},
		"a row of another table":        {Step{Table: rows, Facts: Facts{Makes: true}, Set: []Assign{fill(note, a)}}, []Assign{fill(note, a)}},
	} {
		if got := c.step.Params(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A value is sent if it comes from the event; only a field of it may be a patch, and only what is
// known to be there is never null.
func TestValues(t *testing.T) {
	plain, optional, patch := field("a"), &Field{Type: FieldType{Kind: String, Optional: true}}, &Field{Type: FieldType{Kind: String}, Patch: true}
	part := &KeyPart{Name: "k"}
	ofKey, same := &Field{Source: Source{Kind: FromRecordKey, Part: part}}, &Field{Source: Source{Kind: FromPayload}, SamePart: part}
	for name, c := range map[string]struct {
		value                 Value
		sent, patch, optional bool
		part                  *KeyPart
	}{
		"a field":             {Value{Kind: FieldValue, Field: plain}, true, false, false, nil},
		"an optional field":   {Value{Kind: FieldValue, Field: optional}, true, false, true, nil},
		"a patch":             {Value{Kind: FieldValue, Field: patch}, true, true, true, nil},
		"a part of the key":   {Value{Kind: FieldValue, Field: ofKey}, true, false, false, part},
		"a field like it":     {Value{Kind: FieldValue, Field: same}, true, false, false, part},
		"a result":            {Value{Kind: ResultValue, Field: optional}, true, false, true, nil},
		"a member":            {Value{Kind: ElemValue, Field: plain}, true, false, false, nil},
		"an element":          {Value{Kind: ElemValue}, true, false, false, nil},
		"a member, not a key": {Value{Kind: ElemValue, Field: same}, true, false, false, nil},
		"a position":          {Value{Kind: PositionValue}, true, false, false, nil},
		"an id":               {Value{Kind: EventIDValue}, true, false, false, nil},
		"a constant":          {Value{Kind: ConstValue}, false, false, false, nil},
		"now":                 {Value{Kind: NowValue}, false, false, false, nil},
		"null":                {Value{Kind: NullValue}, false, false, true, nil},
		"whether it is there": {Value{Kind: SentValue, Field: plain}, false, false, false, nil},
	} {
		if v := c.value; v.Sent() != c.sent || v.Patch() != c.patch || v.Optional() != c.optional || v.KeyPart() != c.part {
			t.Errorf("%s: sent %v, patch %v, optional %v, part %v", name, v.Sent(), v.Patch(), v.Optional(), v.KeyPart())
		}
	}
}

// The type of a sent value is that of its field, which may be null if it is a patch, or of the
// element.
func TestTypesOfSentValues(t *testing.T) {
	list := &Field{Type: FieldType{Kind: List, Elem: &FieldType{Kind: Date}}}
	for name, c := range map[string]struct {
		value Value
		want  FieldType
	}{
		"a position":            {Value{Kind: PositionValue}, FieldType{Kind: Int32}},
		"an id":                 {Value{Kind: EventIDValue}, FieldType{Kind: UUID}},
		"whether it is there":   {Value{Kind: SentValue, Field: field("a")}, FieldType{Kind: Bool}},
		"a field":               {Value{Kind: FieldValue, Field: field("a")}, FieldType{Kind: String}},
		"an optional field":     {Value{Kind: FieldValue, Field: &Field{Type: FieldType{Kind: Bytes, Optional: true}}}, FieldType{Kind: Bytes, Optional: true}},
		"a patch":               {Value{Kind: FieldValue, Field: &Field{Type: FieldType{Kind: Bytes}, Patch: true}}, FieldType{Kind: Bytes, Optional: true}},
		"a member":              {Value{Kind: ElemValue, Field: field("a")}, FieldType{Kind: String}},
		"an element as a whole": {Value{Kind: ElemValue}, FieldType{Kind: Date}},
	} {
		if got := (&Step{Each: list}).TypeOf(c.value); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What a step does to rows, and by what it finds them.
func TestWhatAStepDoes(t *testing.T) {
	a := field("a")
	where, set := []Assign{fill(id, a)}, []Assign{fill(note, a), fill(id, a)}
	for name, c := range map[string]struct {
		step                  Step
		makes, changes, skips bool
		found                 []*Column
		names, key            []Assign
	}{
		"an insert":             {Step{Set: set, By: []*Column{id}, Facts: Facts{Makes: true}}, true, false, false, []*Column{id}, set, set[1:]},
		"one that may be there": {Step{Set: set, By: []*Column{id}, Facts: Facts{Makes: true}, If: Conditions{Exists: "skip"}}, true, false, true, []*Column{id}, set, set[1:]},
		"one that must not":     {Step{Set: set, By: []*Column{id}, Facts: Facts{Makes: true}, If: Conditions{Exists: "error"}}, true, false, false, []*Column{id}, set, set[1:]},
		"one whose key is made": {Step{Set: set[:1], By: []*Column{id}, Facts: Facts{Makes: true}, If: Conditions{Exists: "skip"}}, true, false, false, nil, set[:1], nil},
		"an upsert":             {Step{Set: set, By: []*Column{id}, Facts: Facts{Makes: true, Changes: true}}, false, false, false, []*Column{id}, set, set[1:]},
		"one that is guarded":   {Step{Set: set, By: []*Column{id}, Facts: Facts{Makes: true, Changes: true}, If: Conditions{Newer: note}}, false, false, true, []*Column{id}, set, set[1:]},
		"an update":             {Step{Set: set[:1], Where: where, Facts: Facts{Changes: true}, If: Conditions{Missing: "error"}}, false, true, false, []*Column{id}, where, where},
		"one of any rows":       {Step{Set: set[:1], Where: where, Facts: Facts{Changes: true}, If: Conditions{Missing: "skip"}}, false, true, true, []*Column{id}, where, where},
		"a delete":              {Step{Where: where, Facts: Facts{Removes: true}, If: Conditions{Missing: "skip"}}, false, false, false, []*Column{id}, where, where},
		"a replacement":         {Step{Where: where, Facts: Facts{Makes: true, Removes: true}}, false, false, false, []*Column{id}, where, where},
		"a change and a delete": {Step{Where: where, Facts: Facts{Changes: true, Removes: true}}, false, false, false, []*Column{id}, where, where},
	} {
		s := c.step
		if s.OnlyMakes() != c.makes || s.OnlyChanges() != c.changes || s.Skips() != c.skips || !slices.Equal(s.FoundBy(), c.found) ||
			!reflect.DeepEqual(s.Names(), c.names) || !reflect.DeepEqual(s.RowKey(), c.key) {
			t.Errorf("%s: only makes %v, only changes %v, skips %v, found by %v, named by %v, key %v", name, s.OnlyMakes(), s.OnlyChanges(), s.Skips(), ColumnNames(s.FoundBy()), s.Names(), s.RowKey())
		}
	}
}

// The records of a row are in order if its key holds the whole record key of an ordered topic,
// and, of several topics, which one.
func TestRowsInOrder(t *testing.T) {
	p, q := &KeyPart{Name: "p"}, &KeyPart{Name: "q"}
	ofPart := func(p *KeyPart) *Field { return &Field{Source: Source{Kind: FromRecordKey, Part: p}} }
	topicField := &Field{Source: Source{Kind: FromRecord, Record: "topic"}}
	one, two := &RecordKey{Parts: []*KeyPart{p}}, &RecordKey{Parts: []*KeyPart{p, q}}
	ordered := Promises{Ordered: true}
	for name, c := range map[string]struct {
		topic Topic
		where []Assign
		want  bool
	}{
		"one part":              {Topic{RecordKey: one, Promises: ordered}, []Assign{fill(id, ofPart(p))}, true},
		"more than it":          {Topic{RecordKey: one, Promises: ordered}, []Assign{fill(note, field("a")), fill(id, ofPart(p))}, true},
		"another field":         {Topic{RecordKey: one, Promises: ordered}, []Assign{fill(id, field("a"))}, false},
		"no order":              {Topic{RecordKey: one}, []Assign{fill(id, ofPart(p))}, false},
		"no record key":         {Topic{Promises: ordered}, []Assign{fill(id, ofPart(p))}, false},
		"one part of two":       {Topic{RecordKey: two, Promises: ordered}, []Assign{fill(id, ofPart(p))}, false},
		"both parts":            {Topic{RecordKey: two, Promises: ordered}, []Assign{fill(id, ofPart(q)), fill(note, ofPart(p))}, true},
		"two topics":            {Topic{RecordKey: one, Promises: ordered, Kafka: []string{"a", "b"}}, []Assign{fill(id, ofPart(p))}, false},
		"two topics, and which": {Topic{RecordKey: one, Promises: ordered, Kafka: []string{"a", "b"}}, []Assign{fill(id, ofPart(p)), fill(note, topicField)}, true},
		"a constant beside it":  {Topic{RecordKey: one, Promises: ordered, Kafka: []string{"a", "b"}}, []Assign{fill(id, ofPart(p)), {Column: note, Value: Value{Kind: ConstValue}}}, false},
	} {
		if got := (&Step{Where: c.where}).InOrder(&c.topic); got != c.want {
			t.Errorf("%s: in order %v", name, got)
		}
	}
}
