package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// writer makes values as a serializer of Confluent's registry does: behind the number of the
// schema and, of Protobuf, the place of the message in its file.
type writer struct {
	number int
	place  []int
	pack   func(content map[string]any) ([]byte, error)
}

func (w writer) write(content map[string]any) ([]byte, error) {
	value, err := w.pack(content)
	if err != nil {
		return nil, err
	}
	var frame sr.ConfluentHeader
	head, err := frame.AppendEncode(nil, w.number, w.place)
	return append(head, value...), err
}

// The schemas of a shop that grew. Its first orders lack a field of the reader's file, later ones
// have some that the reader does not know, and payments refer to another schema.
var (
	placed1 = `{"type":"record","name":"OrderPlaced","namespace":"shop.v1","fields":[
		{"name":"orderId","type":{"type":"string","logicalType":"uuid"}},{"name":"customerId","type":"string"},
		{"name":"channel","type":{"type":"enum","name":"Channel","symbols":["UNKNOWN","WEB","SHOP"],"default":"UNKNOWN"}},
		{"name":"total","type":{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}},
		{"name":"placedAt","type":{"type":"long","logicalType":"timestamp-micros"}},
		{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
			{"name":"sku","type":"string"},{"name":"quantity","type":"int"}]}}}]}`
	placed2     = longer(placed1, `{"name":"note","type":["null","string"],"default":null},{"name":"coupon","type":"string","default":""}`)
	placed3     = longer(placed2, `{"name":"gift","type":"boolean","default":false}`)
	placedOther = strings.Replace(placed1, `"customerId","type":"string"`, `"customerId","type":"int"`, 1)
	card        = `{"type":"record","name":"Card","namespace":"shop.v1","fields":[{"name":"last4","type":"string"}]}`
	paid        = `{"type":"record","name":"OrderPaid","namespace":"shop.v1","fields":[
		{"name":"orderId","type":{"type":"string","logicalType":"uuid"}},{"name":"cents","type":"int"},
		{"name":"by","type":["shop.v1.Card",{"type":"record","name":"Transfer","fields":[{"name":"iban","type":"string"}]}]}]}`
)

// longer is a schema with more fields.
func longer(schema, fields string) string {
	return strings.TrimSuffix(schema, "]}") + "," + fields + "]}"
}

// avroWriters are those of the shop's schemas, by name. The registry refuses one that does not fit
// those before it under their subject, and has it under another.
func avroWriters(ctx context.Context, registry *sr.Client) (map[string]writer, error) {
	const placed, ofCard = "orders.v1-shop.v1.OrderPlaced", "shop.v1.Card"
	if set := registry.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatBackward}); set[0].Err != nil {
		return nil, set[0].Err
	}
	all := map[string]writer{}
	for _, s := range []struct {
		name, subject, text string
		behind              []string
		refs                []sr.SchemaReference
	}{
		{"placed1", placed, placed1, nil, nil},
		{"placed2", placed, placed2, nil, nil},
		{"placed3", placed, placed3, nil, nil},
		{"other", "other", placedOther, nil, nil},
		{"card", ofCard, card, nil, nil},
		{"paid", "orders.v1-shop.v1.OrderPaid", paid, []string{card}, []sr.SchemaReference{{Name: ofCard, Subject: ofCard, Version: 1}}},
	} {
		number, err := registry.RegisterSchema(ctx, s.subject, sr.Schema{Schema: s.text, References: s.refs}, -1, -1)
		if err != nil {
			return nil, fmt.Errorf("register %s: %w", s.name, err)
		}
		var known avro.SchemaCache
		var schema *avro.Schema
		for _, text := range append(s.behind, s.text) {
			if schema, err = known.Parse(text); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		all[s.name] = writer{number: number, pack: func(content map[string]any) ([]byte, error) { return schema.Encode(content) }}
	}
	_, err := registry.RegisterSchema(ctx, placed, sr.Schema{Schema: placedOther}, -1, -1)
	if answer, ok := errors.AsType[*sr.ResponseError](err); !ok || answer.StatusCode != http.StatusConflict {
		return nil, fmt.Errorf("a schema that does not fit is registered, and not refused: %w", err)
	}
	unknown := all["placed1"]
	unknown.number = 4_000_000
	all["unknown"] = unknown
	return all, nil
}

// protobufWriters are those of the example's file, and of one with more in it.
func protobufWriters(ctx context.Context, registry *sr.Client) (map[string]writer, error) {
	const file = "orders.proto"
	read, err := os.ReadFile(protobufBook + "/proto/" + file)
	if err != nil {
		return nil, err
	}
	first := string(read)
	second := strings.Replace(first, "message OrderPlaced {", "message OrderPlaced {\n  string coupon = 15;", 1)
	all := map[string]writer{}
	for _, v := range [][2]string{{"first", first}, {"second", second}} {
		name, text := v[0], v[1]
		number, err := registry.RegisterSchema(ctx, "orders.v1-value", sr.Schema{Schema: text, Type: sr.TypeProtobuf}, -1, -1)
		if err != nil {
			return nil, fmt.Errorf("register the %s file: %w", name, err)
		}
		compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: protocompile.SourceAccessorFromMap(map[string]string{file: text}),
		})}
		files, err := compiler.Compile(ctx, file)
		if err != nil {
			return nil, err
		}
		message := files[0].Messages().Get(0)
		all[name] = writer{number, []int{0}, func(content map[string]any) ([]byte, error) {
			text, err := json.Marshal(content)
			if err != nil {
				return nil, err
			}
			m := dynamicpb.NewMessage(message)
			if err := protojson.Unmarshal(text, m); err != nil {
				return nil, err
			}
			return proto.Marshal(m)
		}}
	}
	line := all["first"]
	line.place = []int{2}
	all["line"] = line
	return all, nil
}
