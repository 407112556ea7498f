package proof

import (
	"reflect"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// desks has a table of ten rows at most, because their codes must differ.
const desks = `version: 1
consumer: desk-plan
package: desks
tables:
  desks: {primary_key: [desk], columns: {desk: uuid, code: "char(1)", taken: boolean}, unique: [[code]]}
topics:
  desks.v1:
    record_key: {desk: uuid}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 8d}
    event_type: {header: type}
    on_failure: {give_up: stop}
    events:
      Placed: {type: placed, fields: {code: string}, write: [{insert: desks, set: {taken: {value: false}}}]}
      Moved: {type: moved, fields: {code: string}, write: [{update: desks, set: {code: code}}]}
      Occupied: {type: occupied, write: [{update: desks, set: {taken: {value: true}}}]}
      Freed: {type: freed, write: [{update: desks, set: {taken: {value: false}}}]}
`

// Where a refused record halts the partition, the log of a generated test has none, in whatever
// order.
func TestNoRecordOfALogHalts(t *testing.T) {
	spec, problems := syntax.Load("idemgen.yaml", []byte(desks))
	if problems.Errors() > 0 {
		t.Fatal(problems)
	}
	service, problems := resolve.Resolve(spec)
	if service == nil {
		t.Fatal(problems)
	}
	topic := service.Topics[0]
	proof := Of(service)
	drawn := proof.Topic(topic)
	for seed, script := range []Script{drawn, proof.Shuffled(topic, 1), proof.Shuffled(topic, 2), proof.Shuffled(topic, 3)} {
		in := oracle.New(service)
		events := map[string]bool{}
		for i, r := range script.Records {
			record := oracle.Record{Topic: topic.Name, Offset: int64(i), Time: time.Unix(0, 0), Result: r.Result}
			record.Key, record.Value = seedlog.Packed(topic, r.Key, r.Value)
			for _, h := range r.Headers {
				record.Headers = append(record.Headers, oracle.Header(h))
			}
			if out := in.Apply(record); out.Kind != oracle.Applied {
				t.Errorf("seed %d, record %d %s: %s %s", seed, i, r.Event, out.Kind, out.Detail)
			}
			events[r.Event] = true
		}
		if rows := in.Values("desks"); seed == 0 && (len(events) != 4 || len(rows) < 5) || !reflect.DeepEqual(rows, script.Then[0].Rows) {
			t.Errorf("seed %d: events %v, rows %v, want %v", seed, events, rows, script.Then[0].Rows)
		}
	}
}
