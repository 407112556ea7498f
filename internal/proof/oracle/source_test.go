package oracle

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestHeaders(t *testing.T) {
	f := header("tenant", typ(model.Int32), "Tenant")
	o := header("note", opt(model.String), "Note")
	tab := newTable("t", 1, column("tenant", model.ColInteger), nullable(column("note", model.ColText)))
	in := newFeed(t, service([]*model.Table{tab}, newEvent("E", []*model.Field{f, o},
		&model.Step{Verb: "insert", Table: tab, Set: byName(tab, []*model.Field{f, o}, nil)})))
	in.send("E", `not read`, "applied", "Tenant=1", "Note=")
	in.send("E", `{}`, "applied", "Tenant=2")
	in.send("E", `{}`, "dead letter decode header Tenant", "tenant=3")
	in.send("E", `{}`, "dead letter decode header Tenant", "Tenant=3", "Tenant=3")
	in.send("E", `{}`, "dead letter decode header Tenant", "Tenant=")
	in.send("E", `{}`, "dead letter decode header Tenant", "Tenant=03")
	in.send("E", `{}`, "dead letter decode header Note", "Tenant=3", "Note=\xff")
	in.send("E", `{}`, "dead letter decode header Note", "Tenant=3", "Note=a", "Note=a")
	in.apply(Record{Topic: "t", Value: []byte(`{}`), Headers: []Header{{"Tenant", nil}}}, "dead letter decode header Tenant")
	in.apply(Record{Topic: "t", Value: []byte(`{}`), Headers: []Header{{"Tenant", []byte("3")}, {"Note", nil}}}, "applied")
	in.rows("t", `tenant=1  note=""`, `tenant=2  note=NULL`, `tenant=3  note=NULL`)
}

func TestRecordMetadata(t *testing.T) {
	rec := func(name string, ty model.FieldType, what string) *model.Field {
		return &model.Field{Name: name, Type: ty, Source: model.Source{Kind: model.FromRecord, Record: what}}
	}
	fields := []*model.Field{rec("offs", typ(model.Int64), "offset"), rec("part", typ(model.Int32), "partition"), rec("topic", typ(model.String), "topic"),
		rec("at", typ(model.Timestamp), "timestamp"), rec("k", typ(model.Bytes), "key"), rec("v", typ(model.JSON), "value")}
	tab := newTable("t", 1, column("offs", model.ColBigint), column("part", model.ColInteger), column("topic", model.ColText),
		column("at", model.ColTimestamptz), column("k", model.ColBytea), column("v", model.ColJSONB))
	in := newFeed(t, service([]*model.Table{tab}, newEvent("E", fields, &model.Step{Verb: "insert", Table: tab, Set: byName(tab, fields, nil)})))
	at := time.UnixMilli(1_700_000_000_123)
	in.apply(Record{Topic: "t", Partition: 3, Time: at, Key: []byte{0xff, 0}, Value: []byte(` {"b":1, "a":"x"} `)}, "applied")
	key := []byte("key")
	in.apply(Record{Topic: "t", Time: at, Key: key, Value: []byte(`{"b":1`)}, "dead letter decode record value")
	in.apply(Record{Topic: "t", Time: at, Key: key, Value: []byte(`null`)}, "dead letter decode record value")
	in.apply(Record{Topic: "t", Time: at, Key: key, Value: []byte{}}, "dead letter decode record value")
	in.apply(Record{Topic: "t", Value: []byte(`1`)}, "dead letter decode record timestamp")
	in.apply(Record{Topic: "t", Time: at, Key: []byte{}, Value: []byte(`1`)}, "dead letter decode record key")
	in.apply(Record{Topic: "t", Time: at, Value: []byte(`1`)}, "dead letter decode record key")
	in.apply(Record{Topic: "t", Time: at, Key: key, Value: []byte(`"1"`)}, "applied")
	in.rows("t", `offs=0  part=3  topic="t"  at=2023-11-14T22:13:20.123000Z  k=\xff00  v={"a":"x","b":1}`,
		`offs=7  part=0  topic="t"  at=2023-11-14T22:13:20.123000Z  k=\x6b6579  v="1"`)
}

// keyed is a topic whose record key holds id and, if it is JSON, region.
func keyed(json bool) (*model.Service, *model.Table) {
	id := &model.KeyPart{Name: "id", Type: typ(model.UUID)}
	region := &model.KeyPart{Name: "region", Type: typ(model.String), Path: []string{"at", "region"}}
	rk := &model.RecordKey{Parts: []*model.KeyPart{id}, JSON: json}
	fields := []*model.Field{field("id", typ(model.UUID))}
	fields[0].SamePart = id
	tab := newTable("t", 1, column("id", model.ColUUID), nullable(column("region", model.ColText)))
	if json {
		id.Path, rk.Parts = []string{"id"}, []*model.KeyPart{id, region}
		fields = append(fields, &model.Field{Name: "region", Type: typ(model.String), Source: model.Source{Kind: model.FromRecordKey, Part: region}})
	}
	e := newEvent("E", fields, &model.Step{Verb: "upsert", Table: tab, By: tab.PrimaryKey, Set: byName(tab, fields, nil)})
	s := service([]*model.Table{tab}, e)
	s.Topics[0].RecordKey = rk
	return s, tab
}

func TestRecordKeyAgreesWithItsField(t *testing.T) {
	const id, up, other = `00000000-0000-4000-8000-00000000000a`, `00000000-0000-4000-8000-00000000000A`, `00000000-0000-4000-8000-00000000000b`
	send := func(in *feed, key, want string) {
		t.Helper()
		r := Record{Topic: "t", Value: []byte(`{"id":"` + id + `"}`)}
		if key != "none" {
			r.Key = []byte(key)
		}
		in.apply(r, want)
	}
	s, _ := keyed(false)
	in := newFeed(t, s)
	send(in, id, "applied")
	send(in, up, "applied")
	send(in, other, "dead letter decode id")
	send(in, "none", "dead letter decode record key")
	send(in, "", "dead letter decode record key")
	send(in, `"`+id+`"`, "dead letter decode record key")

	s, _ = keyed(true)
	in = newFeed(t, s)
	send(in, `{"id":"`+up+`","at":{"region":"eu"},"x":1}`, "applied")
	send(in, `{"id":"`+other+`","at":{"region":"eu"}}`, "dead letter decode id")
	send(in, `{"id":"`+id+`","at":{}}`, "dead letter decode record key.at.region")
	send(in, `{"id":"`+id+`","at":{"region":null}}`, "dead letter decode record key.at.region")
	send(in, `{"id":"`+id+`","id":"`+id+`","at":{"region":"eu"}}`, "dead letter decode record key.id")
	send(in, `{"id":`, "dead letter decode record key")
	send(in, "none", "dead letter decode record key")
	in.rows("t", `id=`+id+`  region="eu"`)
}

func TestReadingOrder(t *testing.T) {
	tab := newTable("t", 1, column("id", model.ColInteger))
	f := header("id", typ(model.Int32), "id")
	step := func(v string) *model.Step {
		return &model.Step{Verb: v, Table: tab, By: tab.PrimaryKey, Set: byName(tab, []*model.Field{f}, nil), Where: byName(tab, []*model.Field{f}, nil)}
	}
	build := func(tombstone, skips bool) *feed {
		events := []*model.Event{newEvent("A", []*model.Field{f}, step("upsert")), newEvent("B", []*model.Field{f}, step("upsert"))}
		if tombstone {
			gone := newEvent("Gone", []*model.Field{f}, step("delete"))
			gone.Tombstone, gone.Types = true, nil
			events = append(events, gone)
		}
		s := service([]*model.Table{tab}, events...)
		s.Topics[0].Ignore = []string{"C"}
		s.Topics[0].SkipUnknown, s.Topics[0].SkipTombstone = skips, skips
		return newFeed(t, s)
	}
	gone := Record{Topic: "t", Headers: []Header{{"id", []byte("1")}, {"type", []byte("C")}}}

	in := build(true, false)
	in.send("A", ``, "applied", "id=1")
	in.send("C", `broken`, "ignored", "id=1")
	in.send("D", `{}`, "dead letter unknown_type")
	in.send("", `{}`, "dead letter unknown_type")
	in.send("A", `{}`, "dead letter decode header type", "type=A")
	in.apply(Record{Topic: "t", Value: []byte(`{}`)}, "dead letter decode header type")
	in.apply(gone, "applied")
	in.rows("t")

	in = build(false, true)
	in.apply(gone, "ignored")
	in.send("D", `{}`, "ignored")

	in = build(false, false)
	in.apply(gone, "dead letter tombstone")

	in = build(false, false)
	in.service.Topics[0].OnFailure.GiveUp = "stop"
	in.send("D", `{}`, "stop unknown_type")
	in.send("A", `{}`, "stop unknown_type", "id=1") // the partition is halted
	in.apply(Record{Topic: "t", Partition: 1, Value: []byte{}, Headers: []Header{{"type", []byte("A")}, {"id", []byte("1")}}}, "applied")
	if got := in.DeadLetters(); got != nil {
		t.Errorf("stop wrote dead letters: %q", got)
	}
}

func TestTypeInThePayload(t *testing.T) {
	a, b := newEvent("A", nil), newEvent("B", nil)
	s := service(nil, a, b)
	a.Types = []string{"a.v1", "a"}
	s.Topics[0].EventType = []model.Discriminator{{Path: []string{"meta", "type"}}}
	in := newFeed(t, s)
	in.send("", `{"meta":{"type":"a"}}`, "applied")
	in.send("", `{"meta":{"type":"a.v1"}}`, "applied")
	in.send("", `{"meta":{"type":"c"}}`, "dead letter unknown_type")
	in.send("", `{"meta":{}}`, "dead letter decode meta.type")
	in.send("", `{"meta":{"type":null}}`, "dead letter decode meta.type")
	in.send("", `{"meta":{"type":1}}`, "dead letter decode meta.type")
	in.send("", `{"meta":{"type":"a","type":"b"}}`, "dead letter decode meta.type")
	in.send("", `{"meta":{"type":"a"`, "dead letter decode meta")
	in.send("", `{"meta":{"type":"a"}`, "dead letter decode")
}

func TestPayloadLimit(t *testing.T) {
	s := service(nil, newEvent("E", nil))
	s.Limits.MaxPayload = 4
	in := newFeed(t, s)
	in.send("E", `1234`, "applied")
	in.send("E", `12345`, "dead letter too_large")
}

func TestTextsOfATypeAreJoined(t *testing.T) {
	a, b, c := newEvent("A", nil), newEvent("B", nil), newEvent("C", nil)
	s := service(nil, a, b, c)
	a.Types, b.Types, c.Types = []string{"x"}, []string{"x/2"}, []string{"y/2"}
	s.Topics[0].Ignore = []string{"z/2"}
	kind := s.Topics[0].EventType[0]
	s.Topics[0].EventType = []model.Discriminator{kind, {Header: "version"}}
	in := newFeed(t, s)
	in.send("x", `{}`, "applied")
	in.send("x", `{}`, "applied", "version=2")
	in.send("x", `{}`, "applied", "version=")
	in.send("x", `{}`, "dead letter unknown_type", "version=1")
	in.send("x", `{}`, "dead letter decode header version", "version=2", "version=2")
	in.send("y", `{}`, "dead letter unknown_type")
	in.send("y", `{}`, "applied", "version=2")
	in.send("z", `{}`, "ignored", "version=2")

	s.Topics[0].EventType = []model.Discriminator{kind, {Path: []string{"meta", "v"}}}
	in = newFeed(t, s)
	in.send("x", `{}`, "applied")
	in.send("x", `{"meta":{"v":null}}`, "applied")
	in.send("y", `{"meta":{"v":2}}`, "applied")
	in.send("y", `{"meta":{"v":"2"}}`, "applied")
	in.send("y", `{"meta":{"v":2.0}}`, "dead letter decode meta.v")
	in.send("y", `{"meta":{"v":true}}`, "dead letter decode meta.v")
	in.send("y", `{"meta":7}`, "dead letter decode meta")
	in.send("y", `{"meta":{"v":2}`, "dead letter decode")
	in.send("z", `{"meta":{"v":2}}`, "ignored")
	in.send("z", `broken`, "dead letter decode")
}
