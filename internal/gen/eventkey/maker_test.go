package eventkey_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/eventkey"
	"github.com/idemgen/idemgen/internal/gen/model"
)

// several is a service whose events have keys of two parts, of a header, and of their offset.
func several(t *testing.T) *model.Service {
	t.Helper()
	return read(t, `version: 1
consumer: c
package: p
topics:
  a.v1:
    event_type: {header: type}
    record_key: {n: int32}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Split: {type: split, handle: true, fields: {n: int32, day: epoch_days}, idempotency_key: {source: [n, day, {header: zone}], window: 9d, copies: same_partition, compare: nothing}}
      Plain: {type: plain, handle: true, fields: {n: int32}}
  b.v1:
    event_type: {header: type}
    assume: [unique]
    idempotency_key: {source: {record: offset}}
    events:
      Seen: {type: seen, handle: true}
`)
}

// A maker makes the key that Of makes of the same texts, and says what it makes keys of.
func TestMakerMakesTheKeysOfAnEvent(t *testing.T) {
	s := several(t)
	m, err := eventkey.For(s, "Split")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(m.Parts, m.Texts, m.Window, m.Here, m.Topic); got != "[n day zone] [false false true] 216h0m0s true a.v1\n" {
		t.Error(got)
	}
	key, err := m.Key([]string{"7", "20000", "eu"})
	keys, errOf := eventkey.Of(s, "a.v1", "", []eventkey.Value{{Name: "zone", Text: "eu"}, {Name: "n", Text: "7"}, {Name: "day", Text: "20000"}})
	if err != nil || errOf != nil || len(keys) != 1 || keys[0].Hash != key {
		t.Fatalf("%x, %v, want that of %v, %v", key, err, keys, errOf)
	}
	if k := keys[0]; fmt.Sprintln(k.Event, k.Window, k.Here, k.Headers, k.Fields) != "Split 216h0m0s true map[zone:eu] map[day:20000 n:7]\n" {
		t.Errorf("%+v", k)
	}
	for _, texts := range [][]string{{"8", "20000", "eu"}, {"7", "20001", "eu"}, {"7", "20000", "us"}} {
		if other, err := m.Key(texts); err != nil || other == key {
			t.Errorf("%v: %x, %v", texts, other, err)
		}
	}
	for says, texts := range map[string][]string{"n of Split: must be an integer": {"x", "20000", "eu"}, "day of Split: must be an integer": {"7", "2026-11-23", "eu"}, "zone": {"7", "20000", ""}} {
		if key, err := m.Key(texts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %x, %v", texts, key, err)
		}
	}
	if m, err := eventkey.For(s, "Plain"); err != nil || fmt.Sprintln(m.Parts, m.Texts, m.Window, m.Here) != fmt.Sprintln("[key] [true]", 8*24*time.Hour, false) {
		t.Errorf("%+v, %v", m, err)
	}
}

// The error for a name without a key lists the names that have one.
func TestWhatNamesNoKey(t *testing.T) {
	s := several(t)
	for event, says := range map[string]string{
		"Seen": "Seen is identified by its offset: it has no idempotency key", "Splid": `idemgen.yaml has no event "Splid"; did you mean "Split"?`,
	} {
		if _, err := eventkey.For(s, event); err == nil || err.Error() != says {
			t.Errorf("%s: %v, want %s", event, err, says)
		}
	}
	part := func(names ...string) (all []eventkey.Value) {
		for _, name := range names {
			all = append(all, eventkey.Value{Name: name, Text: "1"})
		}
		return all
	}
	for says, c := range map[string]struct {
		topic  string
		values []eventkey.Value
	}{
		"no event has a key of n and day: Split has n and day and zone; Plain has key":       {"a.v1", part("n", "day")},
		"no event has a key of n and day and x: Split has n and day and zone; Plain has key": {"a.v1", part("n", "day", "x")},
		"no event has a key of id: Seen is identified by its offset":                         {"b.v1", part("id")},
	} {
		if _, err := eventkey.Of(s, c.topic, "", c.values); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if keys, err := eventkey.Of(s, "a.v1", "Plain", part("key")); err != nil || len(keys) != 1 || keys[0].Headers["key"] != "1" {
		t.Errorf("%v, %v", keys, err)
	}
}
