package oracle

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/gen/model"
)

func TestCheckExamples(t *testing.T) {
	id := field("id", typ(model.Int32))
	placed, gone := newEvent("OrderPlaced", []*model.Field{id, field("total", typ(model.Decimal))}), newEvent("Gone", nil)
	placed.Key = &model.IdempotencyKey{Parts: []model.KeySource{{Header: "key"}}}
	gone.Tombstone, gone.Types = true, nil
	s := service(nil, placed, newEvent("Other", nil), gone)
	s.Topics[0].Ignore = []string{"Seen"}
	s.Topics[0].RecordKey = &model.RecordKey{Parts: []*model.KeyPart{{Name: "id", Type: typ(model.Int32)}}}
	id.SamePart = s.Topics[0].RecordKey.Parts[0]
	const head = `"topic": "t", "key": "1", "headers": {"type": "OrderPlaced", "key": "k"}`
	for examples, want := range map[string]string{
		`[{` + head + `, "value": {"id": 1, "total": 129.90}, "timestamp": "2026-01-01T00:00:00Z"}]`: "",
		`[{` + head + `, "value": {"id": 1, "total": 1e3}, "timestamp": 1767225600000}]`:             "",
		`[{"topic": "t", "headers": {"type": "Seen"}, "value": 7}, {"topic": "t", "value": null}]`:   "",
		`[]`: "",
		`[{"topic": "t"}, {"topic": "t"}, {` + head + `, "value": {"id": 1}}]`:                          "record 3 does not decode: OrderPlaced/total: required, but missing",
		`[{"topic": "t", "key": "2", "headers": {"type": "OrderPlaced"}, "value": {"id":1,"total":1}}]`: "record 1 does not decode: OrderPlaced/id: differs from the record key",
		`[{"topic": "t", "key": "1", "headers": {"type": "OrderPlaced"}, "value": {"id":1,"total":1}}]`: "record 1 does not decode: OrderPlaced/header key: a part of the idempotency key is missing",
		`[{"topic": "t", "headers": {"type": "Nothing"}, "value": {}}]`:                                 "record 1 does not decode: t: no event has this type",
		`[{"topic": "t", "headers": {}, "value": {}}]`:                                                  "record 1 does not decode: t/header type: required, but missing",
		`[{"topic": "x"}, {"topic": "t", "Headers": {}, "offset": 1}]`:                                  "record 1 does not decode: the spec has no topic \"x\"\nrecord 2 does not decode: it must be an object with topic, key, headers (texts), timestamp and value",
		`[{"topic": "t", "timestamp": "yesterday"}]`:                                                    "record 1 does not decode: timestamp must be RFC 3339 or milliseconds since 1970",
		"[\n{\"topic\": \"t\",}]": "the file is not a JSON array of records: line 2: a member name is missing",
		`{}`:                      "the file is not a JSON array of records: it holds something else",
	} {
		var got []string
		for _, e := range CheckExamples(s, []byte(examples)) {
			got = append(got, e.Error())
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%s\n%s\nwant\n%s", examples, text, want)
		}
	}
}
