package state

import (
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestIdentities(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(e *model.Event)
		want   string
	}{
		{"nothing", func(*model.Event) {}, ""},
		{"compared field", func(e *model.Event) { e.Fields[0].Type.Kind = model.String }, ""},
		{"source", func(e *model.Event) { e.Key.Parts[0].Header = "Id" }, `its source was [header "Idempotency-Key"] and is [header "Id"]`},
		{"shorter window", func(e *model.Event) { e.Key.Window = 36 * time.Hour }, "it was 8d and is 36h"},
		{"source and a shorter window", func(e *model.Event) { e.Key.Parts[0].Header, e.Key.Window = "Id", 36*time.Hour },
			`its source was [header "Idempotency-Key"] and is [header "Id"]; it was 8d and is 36h`},
		{"longer window", func(e *model.Event) { e.Key.Window *= 2 }, ""},
		{"copies", func(e *model.Event) { e.Key.SamePartition = true }, "its copies was anywhere and is same_partition, which looks for keys elsewhere"},
		{"to an offset key", func(e *model.Event) { e.Key = &model.IdempotencyKey{Offset: true} },
			`its source was [header "Idempotency-Key"] and is {record: offset}`},
		{"renamed", func(e *model.Event) { e.Name, e.Key.Space = "Other", [16]byte{9} }, `its name was "OrderPlaced"`},
		{"renamed where the name is no part of the key", func(e *model.Event) { e.Name = "Other" }, ""},
		{"renamed, with other fields", func(e *model.Event) { e.Name, e.Key.Space, e.Fields = "Other", [16]byte{9}, nil }, `its name was "OrderPlaced"`},
		{"other event in its place", func(e *model.Event) {
			e.Name, e.Key.Space, e.Types = "Other", [16]byte{9}, []string{"other"}
		}, ""},
		{"types of it go to another event", func(e *model.Event) {
			other, key := *e, *e.Key
			key.Space = [16]byte{9}
			other.Name, other.Key, other.Types, e.Types = "Other", &key, e.Types[1:], e.Types[:1]
			e.Topic.Events = append(e.Topic.Events, &other)
		}, `records of its types were those of event "OrderPlaced", whose keys are other ones`},
		{"a version of it goes to another event", func(e *model.Event) {
			other, key := *e, *e.Key
			key.Space = [16]byte{9}
			other.Name, other.Key, other.Types = "Other", &key, []string{e.Types[0] + "/2"}
			e.Topic.EventType = append(e.Topic.EventType, model.Discriminator{Header: "v"})
			e.Topic.Events = append(e.Topic.Events, &other)
		}, `records of its types were those of event "OrderPlaced", whose keys are other ones`},
		{"types of it go to another event of the same keys", func(e *model.Event) {
			other := *e
			other.Name, other.Types, e.Types = "Other", e.Types[1:], e.Types[:1]
			e.Topic.Events = append(e.Topic.Events, &other)
		}, ""},
		{"its types go to an event that was there", func(e *model.Event) {
			other, key := e.Topic.Events[1], *e.Key
			key.Space = [16]byte{9}
			other.Types, other.Key, e.Topic.Events = append(e.Types, other.Types...), &key, e.Topic.Events[1:]
		}, `records of its types were those of event "OrderPlaced", whose keys are other ones`},
		{"topic renamed", func(e *model.Event) { e.Topic.Name, e.Key.Space = "orders.v2", [16]byte{9} }, `its topic was "orders.v1"`},
		{"other event of another topic", func(e *model.Event) {
			e.Topic.Name, e.Name, e.Key.Space, e.Types = "orders.v2", "Other", [16]byte{9}, []string{"other"}
		}, ""},
		{"topic renamed, with another field", func(e *model.Event) {
			e.Topic.Name, e.Key.Space, e.Fields = "orders.v2", [16]byte{9}, e.Fields[1:]
		}, `its topic was "orders.v1"`},
		{"from an offset key", func(e *model.Event) { e.Topic.Events[1].Key = e.Key }, ""},
		{"second event beside the first", func(e *model.Event) {
			second := *e
			key := *e.Key
			key.Space = [16]byte{9}
			second.Name, second.Key, second.Types = "Second", &key, []string{"second"}
			e.Topic.Events = append(e.Topic.Events, &second)
		}, ""},
	} {
		s := service()
		tc.change(s.Topics[0].Events[0])
		var got []string
		for _, id := range Identities(first(service()), s) {
			got = append(got, id.Change)
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	older := first(service())
	older.Keys[0].Window = 0 // of a version that did not keep it
	if got := Identities(older, service()); got != nil {
		t.Errorf("a state without a window: %v", got)
	}
	if got := Identities(nil, service()); got != nil {
		t.Errorf("at first: %v", got)
	}
}
