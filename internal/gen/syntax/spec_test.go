package syntax

import (
	"slices"
	"testing"
	"time"
)

// full uses every built key once.
const full = `version: 1
consumer: order-projector
package: orders
description: |
  Orders, as the shop sees them.
  Two lines: one with a colon # and no comment
examples: orders.json
types:
  Line:
    description: one line
    fields: {sku: string, qty: {type: optional int32, path: 'amount."q.ty"'}}
  State: {enum: [open, closed]}
  Kind: {enum: [G, "yes"], description: use State}
tables:
  orders:
    primary_key: [order_id]
    columns:
      order_id: uuid
      total: {type: "nullable numeric(12,2)", default: 0, description: gross}
      seen_at: {type: timestamptz, default: now()}
    unique: [[order_id, total], [total]]
    # each a key
  order_lines:
    primary_key: [line_no]
    columns: {line_no: {type: bigint, identity: true}, order_id: uuid}
    foreign_keys:
      - {columns: [order_id], references: orders, on_delete: cascade}
topics:
  orders.v1:
    record_key: {order_id: {type: uuid, path: $.id}, region: {type: string, path: at.region}}
    assume: [ordered, unique]
    fields: {tenant: {type: string, header: tenant}}
    idempotency_key: {source: [order_id, {header: Idempotency-Key}], window: 8d, compare: declared}
    event_type: {header: event-type}
    ignore: [order.noted]
    skip: [unknown_type, tombstone]
    start_from: committed
    events:
      OrderPlaced:
        type: [order.placed, order.created]
        fields: {order_id: uuid, total: {type: decimal, default: 0}, lines: list(Line), at: {type: timestamp, record: timestamp}}
        write:
          - upsert: orders
            set: {total: total, seen_at: {now: true}}
            leave: [seen_at]
            by: [order_id]
            if_newer: total
          - insert: order_lines
            each: lines
            set: {order_id: order_id, sku: each.sku, line_no: {each: position}}
            if_exists: skip
          - update: orders
            set: {total: {value: 1}}
            clear: [seen_at]
            where: {order_id: each}
            many: true
            if_missing: skip
        handle: true
      OrderGone:
        tombstone: true
        idempotency_key: {source: {record: offset}}
        write: [{delete: orders}]
    on_failure: {retries: 3, max_backoff: 1m}
limits: {batch_events: 100, batch_wait: 20ms, batch_timeout: 30s, max_payload: 512KiB}
migrations: {dir: db/migrations, format: sql}
`

// TestLoad: every built key arrives in its place, with the position of key and value.
func TestLoad(t *testing.T) {
	s, ds := Load("orders.yaml", []byte(full))
	if ds.Errors() != 0 || s.Broken {
		t.Fatal(printed(t, ds, "orders.yaml", []byte(full)))
	}
	topic, table := s.Topics[0], s.Tables[0]
	placed, gone := topic.Events[0], topic.Events[1]
	upsert, insert, change := placed.Write[0], placed.Write[1], placed.Write[2]
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"consumer", *s.Consumer, Text{Value: "order-projector", Key: Pos{Line: 2, Col: 1, Width: 8}, Pos: Pos{Line: 2, Col: 11, Width: 15}}},
		{"description", s.Description.Value, "Orders, as the shop sees them.\nTwo lines: one with a colon # and no comment\n"},
		{"path", s.Types[0].Fields[1].Path.Members, []string{"amount", "q.ty"}},
		{"optional", *s.Types[0].Fields[1].Type, FieldType{Text: "optional int32", Optional: true, Name: "int32", NamePos: Pos{Line: 11, Col: 48, Width: 5}, Pos: Pos{Line: 11, Col: 39, Width: 14}}},
		{"enum list", s.Types[1].Enum[1], Text{Value: "closed", Pos: Pos{Line: 12, Col: 24, Width: 6}}},
		{"column type", table.Columns[1].Type, ColumnType{Text: "nullable numeric(12,2)", Nullable: true, Word: "numeric(12,2)", Pos: Pos{Line: 19, Col: 21, Width: 24}}},
		{"default", *table.Columns[1].Default, Text{Value: "0", Key: Pos{Line: 19, Col: 47, Width: 7}, Pos: Pos{Line: 19, Col: 56, Width: 1}}},
		{"unique", texts(table.Unique[0]), []string{"order_id", "total"}},
		{"identity", s.Tables[1].Columns[0].Identity.Value, true},
		{"on_delete", s.Tables[1].ForeignKeys[0].OnDelete.Value, "cascade"},
		{"record key path", *topic.RecordKey.Parts[0].Path, Path{Text: "$.id", Members: []string{"id"}, Whole: true, Key: Pos{Line: 30, Col: 41, Width: 4}, Pos: Pos{Line: 30, Col: 47, Width: 4}}},
		{"assume", topic.Assume.Get("ordered").Value, "ordered"},
		{"topic field", topic.Fields[0].Header.Value, "tenant"},
		{"source field", *topic.IdempotencyKey.Source[0].Field, Text{Value: "order_id", Pos: Pos{Line: 33, Col: 32, Width: 8}}},
		{"source header", topic.IdempotencyKey.Source[1].Header.Value, "Idempotency-Key"},
		{"window", *topic.IdempotencyKey.Window, Duration{Value: 8 * 24 * time.Hour, Text: "8d", Key: Pos{Line: 33, Col: 70, Width: 6}, Pos: Pos{Line: 33, Col: 78, Width: 2}}},
		{"event_type", topic.EventType[0].Header.Value, "event-type"},
		{"skip", topic.Skip.Get("tombstone").Value, "tombstone"},
		{"types", texts(*placed.Type), []string{"order.placed", "order.created"}},
		{"list", placed.Fields[2].Type.Elem.Name, "Line"},
		{"list position", placed.Fields[2].Type.Elem.Pos, Pos{Line: 41, Col: 82, Width: 4}},
		{"record", placed.Fields[3].Record.Value, "timestamp"},
		{"verb", upsert.Verb, Text{Value: "upsert", Key: Pos{Line: 43, Col: 13, Width: 6}, Pos: Pos{Line: 43, Col: 13, Width: 6}}},
		{"table", upsert.Table, Text{Value: "orders", Key: Pos{Line: 43, Col: 13, Width: 6}, Pos: Pos{Line: 43, Col: 21, Width: 6}}},
		{"field value", upsert.Set.Items[0].Value, Value{Kind: FieldValue, Name: "total", Pos: Pos{Line: 44, Col: 26, Width: 5}}},
		{"now", upsert.Set.Items[1].Value, Value{Kind: NowValue, Pos: Pos{Line: 44, Col: 42, Width: 11}}},
		{"member", insert.Set.Items[1].Value, Value{Kind: MemberValue, Name: "sku", Pos: Pos{Line: 50, Col: 44, Width: 8}}},
		{"position", insert.Set.Items[2].Value.Kind, PositionValue},
		{"constant", change.Set.Items[0].Value.Const, Text{Value: "1", Key: Pos{Line: 53, Col: 27, Width: 5}, Pos: Pos{Line: 53, Col: 34, Width: 1}}},
		{"element", change.Where.Items[0].Value.Kind, ElementValue},
		{"clear", *change.Clear, Texts{Items: []Text{{Value: "seen_at", Pos: Pos{Line: 54, Col: 21, Width: 7}}}, Key: Pos{Line: 54, Col: 13, Width: 5}, Pos: Pos{Line: 54, Col: 20, Width: 9}}},
		{"handle", *placed.Handle, Bool{Value: true, Key: Pos{Line: 58, Col: 9, Width: 6}, Pos: Pos{Line: 58, Col: 17, Width: 4}}},
		{"offset", gone.IdempotencyKey.Offset(), true},
		{"tombstone", gone.Tombstone.Key, Pos{Line: 60, Col: 9, Width: 9}},
		{"delete", gone.Write[0].Table.Value, "orders"},
		{"retries", *topic.OnFailure.Retries, Int{Value: 3, Text: "3", Key: Pos{Line: 63, Col: 18, Width: 7}, Pos: Pos{Line: 63, Col: 27, Width: 1}}},
		{"size", *s.Limits.MaxPayload, Size{Value: 512 << 10, Text: "512KiB", Key: Pos{Line: 64, Col: 67, Width: 11}, Pos: Pos{Line: 64, Col: 80, Width: 6}}},
		{"dir", s.Migrations.Dir.Value, "db/migrations"},
	} {
		if !equal(c.got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, c.got, c.want)
		}
	}
}

func texts(l Texts) []string {
	var out []string
	for _, t := range l.Items {
		out = append(out, t.Value)
	}
	return out
}

// TestFieldTypes: a type is taken apart where it is a type, and kept whole where not.
func TestFieldTypes(t *testing.T) {
	for text, want := range map[string][]string{
		"uuid":                           {"uuid"},
		"optional uuid":                  {"uuid?"},
		"list(Line)":                     {"list", "Line"},
		"optional list(optional string)": {"list?", "string?"},
		"list(list(int32))":              {"list", "list", "int32"},
		"string?":                        {"string?!"},
		"list(Line":                      {"list(Line"},
		"optional":                       {"optional"},
		"optional  int64":                {"int64?"},
		"list()":                         {"list", ""},
		"list(" + "x" + ") y":            {"list(x) y"},
	} {
		var got []string
		for f := parseFieldType(text, Pos{Line: 1, Col: 1, Width: len(text)}, false); f != nil; f = f.Elem {
			name := f.Name
			if f.Optional {
				name += "?"
			} else if name == "string?" {
				name += "!"
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
