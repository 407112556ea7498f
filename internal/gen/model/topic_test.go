package model

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Equal values of json, and of what holds json or decimals, may have several texts.
func TestTypesOfManyTexts(t *testing.T) {
	object := func(kinds ...Kind) FieldType {
		named := &Type{}
		for _, k := range kinds {
			named.Fields = append(named.Fields, &Field{Type: FieldType{Kind: k}})
		}
		return FieldType{Kind: Object, Named: named}
	}
	list := func(of FieldType) FieldType { return FieldType{Kind: List, Elem: &of} }
	deep := FieldType{Kind: Object, Named: &Type{Fields: []*Field{{Type: list(object(String, Decimal))}}}}
	for name, c := range map[string]struct {
		of   FieldType
		want bool
	}{
		"json": {FieldType{Kind: JSON}, true}, "a decimal": {FieldType{Kind: Decimal}, false}, "a text": {FieldType{Kind: String}, false},
		"an object": {object(String, Int64), false}, "one with json": {object(String, JSON), true}, "one with a decimal": {object(Decimal), true},
		"a list": {list(FieldType{Kind: String}), false}, "of decimals": {list(FieldType{Kind: Decimal}), true}, "of lists of json": {list(list(FieldType{Kind: JSON})), true},
		"of objects": {list(object(String)), false}, "within": {deep, true}, "an enum": {FieldType{Kind: Enum, Named: object(JSON).Named}, false},
		"a map": {FieldType{Kind: Map, Elem: &FieldType{Kind: JSON}}, true},
	} {
		if got := c.of.ManyTexts(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is sensitive is so wherever it is written out, also in types that hold themselves.
func TestSensitiveColumns(t *testing.T) {
	secret := &Type{Fields: []*Field{{Name: "a"}, {Name: "s", Sensitive: true}}}
	plain := &Type{Fields: []*Field{{Name: "a"}}}
	plain.Fields = append(plain.Fields, &Field{Name: "self", Type: FieldType{Kind: Object, Named: plain}})
	object := func(of *Type) FieldType { return FieldType{Kind: Object, Named: of} }
	lists := func(of *Type) *Field { elem := object(of); return &Field{Type: FieldType{Kind: List, Elem: &elem}} }
	if object(plain).Sensitive() || !object(secret).Sensitive() || !lists(secret).HoldsSensitive() || lists(plain).HoldsSensitive() ||
		!(&Field{Sensitive: true}).HoldsSensitive() || (FieldType{Kind: String}).Sensitive() {
		t.Error("other types are sensitive")
	}
	marked := &Field{Type: lists(plain).Type, Sensitive: true}
	for name, c := range map[string]struct {
		step Step
		want string
	}{
		"fields":                {Step{Set: []Assign{fill(id, &Field{Sensitive: true}), fill(note, field("a"))}}, "id"},
		"where":                 {Step{Where: []Assign{fill(note, &Field{Type: object(secret)})}}, "note"},
		"a constant":            {Step{Set: []Assign{{Column: id, Value: Value{Kind: ConstValue}}}}, ""},
		"members":               {Step{Each: lists(secret), Set: []Assign{{Column: id, Value: Value{Kind: ElemValue, Field: secret.Fields[0]}}, {Column: note, Value: Value{Kind: ElemValue, Field: secret.Fields[1]}}}}, "note"},
		"a whole element":       {Step{Each: lists(secret), Set: []Assign{{Column: seen, Value: Value{Kind: ElemValue}}}}, "seen"},
		"of a list that is not": {Step{Each: lists(plain), Set: []Assign{{Column: seen, Value: Value{Kind: ElemValue}}, {Column: id, Value: Value{Kind: ElemValue, Field: secret.Fields[1]}}}}, ""},
		"of one that is":        {Step{Each: marked, Set: []Assign{{Column: id, Value: Value{Kind: ElemValue, Field: plain.Fields[0]}}}}, "id"},
		"another table":         {Step{Table: &Table{}, Set: []Assign{fill(id, &Field{Sensitive: true})}}, ""},
	} {
		step := c.step
		if step.Table == nil {
			step.Table = rows
		}
		got := SensitiveColumns(&Service{Topics: []*Topic{{}, {Flush: []*Step{{Table: rows}, &step}}}}, rows)
		if strings.Join(ColumnNames(got), " ") != c.want {
			t.Errorf("%s: %v, want %s", name, ColumnNames(got), c.want)
		}
	}
}

// A schema knows the members of its objects and maps, and the elements of its lists.
func TestShapes(t *testing.T) {
	text := &Shape{Kind: String}
	object, dict, list := &Shape{Kind: Object, Members: map[string]*Shape{"a": text}}, &Shape{Kind: Map, Elem: text}, &Shape{Kind: List, Elem: text}
	if object.Member("a") != text || object.Member("b") != nil || dict.Member("b") != text || (*Shape)(nil).Member("a") != nil || list.Member("a") != nil {
		t.Error("another member")
	}
	if list.Element() != text || dict.Element() != nil || object.Element() != nil || (*Shape)(nil).Element() != nil {
		t.Error("another element")
	}
}

// The texts of a column are its constants, and those of enums that fill it or are compared with
// it, once each.
func TestTextsOfAColumn(t *testing.T) {
	constant := func(c *Column, text string) Assign {
		return Assign{Column: c, Value: Value{Kind: ConstValue, Const: &Constant{Text: text}}}
	}
	enum := &Field{Type: FieldType{Kind: Enum, Named: &Type{Enum: []EnumValue{{Text: "c"}, {Text: "a"}}}}}
	s := &Service{Topics: []*Topic{{Events: []*Event{{Steps: []*Step{
		{Set: []Assign{constant(id, "a"), constant(note, "x"), fill(id, field("f"))}}, {Where: []Assign{constant(id, "b"), constant(id, "a")}},
	}}}}, {Events: []*Event{{Steps: []*Step{{Set: []Assign{fill(id, enum), {Column: id, Value: Value{Kind: NowValue}}}}}}}}}}
	if got := strings.Join(s.TextsOf(id), " "); got != "a b c" {
		t.Error(got)
	}
	if got := s.TextsOf(seen); len(got) > 0 {
		t.Error(got)
	}
}

// What an entry of topics reads, and how.
func TestTopics(t *testing.T) {
	number := &Field{Type: FieldType{Kind: Int64}, Source: Source{Kind: FromHeader, Header: "n", Binary: true}}
	text := &Field{Type: FieldType{Kind: String}, Source: Source{Kind: FromHeader, Header: "t"}}
	topic := &Topic{Kafka: []string{"a", "b"}, Dispatch: Dispatch{Ignore: []string{"i"}}, Events: []*Event{
		{Types: []string{"x", "y"}, Fields: []*Field{text}, Key: &IdempotencyKey{Offset: true, Window: 1}},
		{Types: []string{"z"}, Fields: []*Field{text, number}, Key: &IdempotencyKey{Window: time.Hour}},
		{Key: &IdempotencyKey{Window: time.Minute}}, {Key: &IdempotencyKey{Window: time.Hour}},
	}}
	if !topic.Reads("b") || topic.Reads("c") || topic.TopicsText() != "a, b" || !topic.Apart() || (&Topic{Kafka: []string{"a"}}).Apart() {
		t.Error("other topics")
	}
	if !topic.HasBinaryHeaders() || topic.BinaryHeader("n") != Int64 || topic.BinaryHeader("t") != 0 || (&Topic{Events: topic.Events[:1]}).HasBinaryHeaders() {
		t.Error("other headers")
	}
	if got := strings.Join(topic.AllTypes(), " "); got != "i x y z" {
		t.Error(got)
	}
	if got := topic.ShortestWindow(); got != time.Minute {
		t.Error(got)
	}
	if got := (&Topic{Events: topic.Events[:1]}).ShortestWindow(); got != 0 {
		t.Error(got)
	}
	if topic.Parks() || !(&Topic{OnFailure: FailurePolicy{Park: true}}).Parks() {
		t.Error("parks")
	}
}

// The texts of a type are as many as the topic has places, and are one text if any would be
// empty.
func TestTextsOfTypes(t *testing.T) {
	two := &Dispatch{EventType: []Discriminator{{Header: "a"}, {Header: "b"}}}
	for typ, want := range map[string][]string{"a/b": {"a", "b"}, "a": {"a"}, "a/b/c": {"a", "b/c"}, "a/": {"a/"}, "/b": {"/b"}} {
		if got := two.TypeTexts(typ); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", typ, got, want)
		}
	}
	if two.TypeInPayload() || !(&Dispatch{EventType: []Discriminator{{Header: "a"}, {Path: []string{"b"}}}}).TypeInPayload() {
		t.Error("in the payload")
	}
}

// What the events of a service have.
func TestWhatEventsHave(t *testing.T) {
	handler, effect, result := &Event{Code: Code{Handle: true}}, &Event{Code: Code{Effect: &Effect{}}}, &Event{Code: Code{Effect: &Effect{Result: &Type{}}}}
	steps := &Event{}
	if !handler.HasCode() || !effect.HasCode() || steps.HasCode() || handler.Returns() || effect.Returns() || !result.Returns() {
		t.Error("other code")
	}
	of := func(events ...*Event) *Service { return &Service{Topics: []*Topic{{}, {Events: events}}} }
	if !of(steps, handler).HasHandlers() || of(steps, effect).HasHandlers() || !of(steps, effect).HasEffects() || of(handler).HasEffects() {
		t.Error("other events")
	}
	key := func(offset, same bool) *Event {
		return &Event{Key: &IdempotencyKey{Offset: offset, SamePartition: same}}
	}
	if !of(key(true, false), key(false, false)).SharesKeys() || of(key(true, false), key(false, true)).SharesKeys() {
		t.Error("other keys")
	}
}

// A registry is asked for the schemas of Avro that is framed.
func TestMessagesOfARegistry(t *testing.T) {
	framed, file, proto := &Messages{Avro: true, Framed: true}, &Messages{Avro: true}, &Messages{Framed: true}
	if !framed.Registry() || file.Registry() || proto.Registry() || (*Messages)(nil).Registry() {
		t.Error("another registry")
	}
	for name, c := range map[string]struct {
		topic Topic
		want  []*Messages
	}{
		"values": {Topic{Payload: Payload{Packed: Packed{Messages: framed}}}, []*Messages{framed}},
		"keys":   {Topic{RecordKey: &RecordKey{Packed: Packed{Messages: framed}}}, []*Messages{framed}},
		"both":   {Topic{Payload: Payload{Packed: Packed{Messages: framed}}, RecordKey: &RecordKey{Packed: Packed{Messages: framed}}}, []*Messages{framed, framed}},
		"files":  {Topic{Payload: Payload{Packed: Packed{Messages: file}}, RecordKey: &RecordKey{Packed: Packed{Messages: proto}}}, nil},
		"none":   {Topic{RecordKey: &RecordKey{}}, nil},
	} {
		if got := c.topic.OfRegistry(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for encoding, want := range map[string]bool{"": false, "binary": false, "json_string": true, "avro": true} {
		if got := (&Packed{Encoding: encoding}).Unpacks(); got != want {
			t.Errorf("%q unpacks: %v", encoding, got)
		}
	}
}

// A notation counts a unit, or is of documents only, or neither.
func TestNotations(t *testing.T) {
	for n, unit := range map[Notation]time.Duration{Usual: 0, EpochSeconds: time.Second, EpochMillis: time.Millisecond, EpochMicros: time.Microsecond,
		EpochNanos: time.Nanosecond, EpochDays: 24 * time.Hour, Array: 0, Unscaled: 0, WithScale: 0} {
		if n.Unit() != unit || n.OfDocuments() != (n == Array || n == Unscaled || n == WithScale) {
			t.Errorf("%d: unit %s, of documents %v", n, n.Unit(), n.OfDocuments())
		}
	}
	at := func(s Source) bool { return (&Field{Source: s}).IsRecordTime() }
	if !at(Source{Kind: FromRecord, Record: "timestamp"}) || at(Source{Kind: FromRecord, Record: "offset"}) || at(Source{Kind: FromHeader, Record: "timestamp"}) {
		t.Error("another time of the record")
	}
}
