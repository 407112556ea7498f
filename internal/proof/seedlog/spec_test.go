package seedlog_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
)

// specs are small services, each with one difficulty for the log.
var specs = map[string]string{
	"insert, update, delete": `
tables:
  orders: {primary_key: [id], columns: {id: uuid, status: text, total: "numeric(5,1)"}}
topics:
  t:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Placed: {type: placed, fields: {total: decimal}, write: [{insert: orders, set: {status: {value: placed}}}]}
      Paid: {type: paid, fields: {total: decimal}, write: [{update: orders, set: {status: {value: paid}, total: total}}]}
      Erased: {tombstone: true, idempotency_key: {source: {record: offset}}, write: [{delete: orders}]}
`,
	"an object is kept, and parts of it fill columns": `
types:
  Charge: {fields: {id: string, currency: string}}
tables:
  charges: {primary_key: [charge_id], columns: {charge_id: text, currency: char(3), whole: jsonb}}
topics:
  t:
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Charged:
        fields:
          charge: {type: Charge, path: data.object}
          charge_id: {type: string, path: data.object.id}
          currency: {type: string, path: data.object.currency}
        write: [{insert: charges, set: {whole: charge}}]
`,
	"a key that names its row": `
tables:
  orders: {primary_key: [id], columns: {id: uuid, status: text, paid: nullable numeric}}
  payments:
    primary_key: [payment_id]
    columns: {payment_id: uuid, id: uuid, amount: numeric}
    foreign_keys: [{columns: [id], references: orders, on_delete: restrict}]
topics:
  t:
    record_key: {id: uuid}
    assume: [ordered]
    event_type: {path: kind}
    idempotency_key: {source: id, window: 1d}
    events:
      Placed: {type: placed, fields: {status: string}, write: [{upsert: orders, clear: [paid]}]}
      Paid:
        type: paid
        fields: {payment_id: uuid, amount: decimal}
        idempotency_key: {source: payment_id, window: 1d}
        write: [{insert: payments}, {update: orders, set: {paid: amount}}]
      Gone: {type: gone, write: [{delete: orders}]}
`,
	"only newer": `
tables:
  state: {primary_key: [device], columns: {device: varchar(9), seq: bigint, at: timestamptz, level: nullable double precision}}
topics:
  t:
    idempotency_key: {source: {record: offset}}
    events:
      Reading:
        fields: {device: string, seq: int64, at: {type: epoch_ms, path: ts}, level: {type: optional float64, path: v.level}}
        write: [{upsert: state, if_newer: seq}]
`,
	"rows of their own": `
tables:
  devices: {primary_key: [device], columns: {device: text, name: text}}
  readings: {primary_key: [device, seq], columns: {device: text, seq: bigint, level: double precision}, foreign_keys: [{columns: [device], references: devices}]}
topics:
  t:
    record_key: {device: string}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Named: {type: named, fields: {name: string}, write: [{upsert: devices}]}
      Read: {type: read, fields: {seq: int64, level: float64}, write: [{insert: readings}]}
`,
	"child rows by list, element and many": `
types: {Line: {fields: {sku: string, qty: int32}}}
tables:
  carts: {primary_key: [cart], columns: {cart: integer, note: nullable text}}
  lines:
    primary_key: [cart, sku]
    columns: {cart: integer, sku: char(5), qty: integer}
    foreign_keys: [{columns: [cart], references: carts, on_delete: cascade}]
topics:
  t:
    record_key: {cart: int32}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Filled:
        type: filled
        fields: {note: optional string, lines: list(Line)}
        write: [{upsert: carts}, {upsert: lines, each: lines, set: {cart: cart}}]
      Changed: {type: changed, fields: {sku: string, qty: int32}, write: [{update: lines, set: {qty: qty}}]}
      Emptied: {type: emptied, write: [{delete: lines, where: {cart: cart}, many: true}]}
      Dropped: {type: dropped, write: [{delete: carts}]}
`,
	"parents of another topic": `
tables:
  people: {primary_key: [id], columns: {id: integer}}
  pets:
    primary_key: [name]
    columns: {name: text, owner: nullable integer, breeder: integer}
    foreign_keys: [{columns: [owner], references: people}, {columns: [breeder], references: people}]
topics:
  people: {idempotency_key: {source: {header: key}, window: 1d}, events: {Born: {fields: {id: int32}, write: [{insert: people, if_exists: skip}]}}}
  t:
    record_key: {name: string}
    assume: [ordered]
    idempotency_key: {source: {header: key}, window: 1d}
    events: {Bought: {fields: {owner: optional int32, breeder: int32}, write: [{upsert: pets}]}}
`,
	"rows that a handler may make": `
tables:
  carts: {primary_key: [id], columns: {id: integer, state: text}}
  people: {primary_key: [id], columns: {id: integer, met: boolean}}
topics:
  people: {idempotency_key: {source: {header: key}, window: 1d}, events: {Born: {fields: {id: int32}, write: [{insert: people, set: {met: {value: false}}, if_exists: skip}]}}}
  t:
    record_key: {id: int32}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: {header: key}, window: 1d}
    events:
      Filled: {type: filled, handle: true}
      Closed: {type: closed, write: [{update: carts, set: {state: {value: closed}}, if_missing: skip}]}
      Met: {type: met, write: [{update: people, set: {met: {value: true}}}]}
`,
	"a unique key decides the row": `
tables:
  accounts: {primary_key: [id], columns: {id: {type: uuid, default: gen_random_uuid()}, email: text, plan: text}, unique: [[email]]}
types: {Plan: {enum: [free, paid]}}
topics:
  t:
    record_key: {email: {type: string, path: user.email}}
    assume: [ordered]
    event_type: {header: type}
    idempotency_key: {source: [email, n], window: 1d}
    events:
      Joined: {type: joined, fields: {plan: Plan, n: int64}, write: [{upsert: accounts, by: [email], leave: [id]}]}
      Left: {type: left, fields: {n: int64}, write: [{delete: accounts, where: {email: email}}]}
`,
}

// services are the specs above, the accepted golden ones and the examples.
func services(t *testing.T) map[string]*model.Service {
	t.Helper()
	all := map[string]*model.Service{}
	add := func(name, dir string, data []byte) {
		spec, bad := syntax.Load("idemgen.yaml", data)
		if bad.Errors() > 0 {
			t.Fatalf("%s: %v", name, bad.Sorted())
		}
		s, bad := resolve.Resolve(spec)
		if s == nil || bad.Errors() > 0 {
			t.Fatalf("%s: %v", name, bad)
		}
		all[name] = s
	}
	for name, text := range specs {
		add(name, ".", []byte("version: 1\nconsumer: c\npackage: p\n"+text))
	}
	for _, pattern := range []string{"../../../testdata/golden/accepted/*/idemgen.yaml", "../../../examples/*/idemgen.yaml", "../../../examples/*/*/idemgen.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no specs in %s: %v", pattern, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			add(f, filepath.Dir(f), data)
		}
	}
	return all
}

// eachTopic runs a test per topic of every service.
func eachTopic(t *testing.T, test func(t *testing.T, s *model.Service, topic *model.Topic, log []seedlog.Record)) {
	all := services(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, topic := range all[name].Topics {
			t.Run(name+"/"+topic.Name, func(t *testing.T) { test(t, all[name], topic, logOf(all[name], topic)) })
		}
	}
}

func logOf(s *model.Service, topic *model.Topic) []seedlog.Record {
	_, log := seedlog.Log(s, topic, nil)
	return log
}

// begun is an oracle with the rows that are there before the log.
func begun(s *model.Service, topic *model.Topic) *oracle.Interpreter {
	in := oracle.New(s)
	rows, _ := seedlog.Log(s, topic, nil)
	for _, r := range rows {
		_ = in.Insert(r) // it is there already
	}
	return in
}

// goOn has no record of a topic wait behind another one: a plan is about each record by itself.
func goOn(topic *model.Topic) {
	topic.OnFailure.Park = false
	for _, e := range topic.Events {
		e.OnFailure.Park = false
	}
}

// kafka is the record at an offset of partition 0.
func kafka(topic *model.Topic, offset int, r seedlog.Record) oracle.Record {
	out := oracle.Record{Topic: r.In(topic), Offset: int64(offset), Time: time.UnixMilli(1767225600000 + int64(offset)), Result: r.Result}
	out.Key, out.Value = seedlog.Packed(topic, r.Key, r.Value)
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, oracle.Header{Name: h.Name, Value: seedlog.PackedHeader(topic, h.Name, h.Value)})
	}
	return out
}
