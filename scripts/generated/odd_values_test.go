package generated_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/avro"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/idemgen/idemgen/internal/gen/messages"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/runtime/halt"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/idemtest"
	oddities "github.com/idemgen/idemgen/testdata/golden/accepted/odd_values"
)

const oddValues = "../../testdata/golden/accepted/odd_values"

// schemas is a registry.
type schemas map[uint32]string

func (s schemas) Schema(_ context.Context, number uint32) ([]string, error) {
	return []string{s[number]}, nil
}

// part is a field of a protobuf message that holds bytes.
func part(n byte, value string) string { return string([]byte{n<<3 | 2, byte(len(value))}) + value }

func packed(n byte, m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return part(n, string(b))
}

// held is a google.protobuf.Any in an envelope.
func held(typ, value string) string {
	return packed(3, &anypb.Any{TypeUrl: "type.googleapis.com/" + typ, Value: []byte(value)})
}

// oddRecord is a record, and what becomes of it: a row, or the reason of its dead letter.
type oddRecord struct{ name, topic, key, value, row, reason string }

// readings are records with binary headers.
func readings() []oddRecord {
	const (
		topic, id = "readings.v1", "id=\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\xff"
		seq       = "seq=\xff\xff\xff\xff\xff\xff\xff\xfe"
	)
	headers := func(all ...string) string { return strings.Join(all, "|") }
	return []oddRecord{
		{"a number and a UUID", topic, headers(id, seq, "tag=\xff\x00", "flags=\x80\x00\x00\x00"), "{}", `(01020304-0506-0708-090a-0b0c0d0e0fff,-2,-2147483648,"\\xff00",7)`, ""},
		{"a copy", topic, headers(id, seq, "tag=\xff\x00", "flags=\x80\x00\x00\x00"), "{}", "", ""},
		{"digits", topic, headers(id, "seq=17", "tag=a"), "{}", "", "header seq has 2 bytes, not 8"},
		{"a UUID in text", topic, headers("id=01020304-0506-0708-090a-0b0c0d0e0fff", seq, "tag=a"), "{}", "", "header id has 36 bytes, not 16"},
		{"an optional number that is too long", topic, headers(id, seq, "tag=a", "flags=12345"), "{}", "", "header flags has 5 bytes, not 4"},
		{"a number with a default", topic, headers(id, seq, "tag=a", "site="), "{}", "", "header site has 0 bytes, not 4"},
	}
}

func oddRecords(t *testing.T) []oddRecord {
	const (
		olds, loose, envelopes, orders = "olds.v1", "loose.v1", "envelopes.v1", "orders.v1"
		noText                         = " is not valid UTF-8"
		first                          = "\x00\x00\x00\x00\x01\x00"     // a frame
		second                         = "\x00\x00\x00\x00\x01\x02\x02" // the same for the second message
	)
	envelope := func(id, kind, rest string) string { return part(1, id) + part(2, kind) + rest }
	nan := packed(5, structpb.NewNumberValue(0))[:2] + "\x11\x01\x00\x00\x00\x00\x00\xf8\x7f"
	var deep []byte
	for range 70 {
		deep = must(proto.Marshal(&anypb.Any{TypeUrl: "/odd.v1.Envelope", Value: protowire.AppendBytes([]byte{3<<3 | 2}, deep)}))
	}
	more := string(protowire.AppendBytes([]byte{7<<3 | 2}, deep))
	wrote := func(schema string, value any) string {
		s, err := avro.Parse(schema)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return append(readings(), []oddRecord{
		// Proto2: two texts in Latin-1 are two keys, and neither is UTF-8.
		{"a key in Latin-1", olds, "", part(1, "M\xfcller") + part(2, "n"), "", "id" + noText},
		{"another one", olds, "", part(1, "M\xf6ller") + part(2, "n"), "", "id" + noText},
		{"an optional text", olds, "", part(1, "a") + part(2, "\xff"), "", "name" + noText},
		{"a name of a map", olds, "", part(1, "b") + part(7, part(1, "k\xff")+part(2, "v")), "", "labels holds a name that" + noText},
		{"a text of a map", olds, "", part(1, "c") + part(7, part(1, "k")+part(2, "\xff")), "", "labels" + noText},
		{"a text of a list", olds, "", part(1, "d") + part(8, "x") + part(8, "\xff"), "", "tags[1]" + noText},
		{"a text of a group", olds, "", part(1, "e") + "\x23" + part(1, "\xff") + "\x24", "", "extra.by" + noText},
		{"U+0000", olds, "", part(1, "f") + part(2, "\x00"), "", "name holds U+0000, which text and jsonb of Postgres cannot hold"},
		{"a text that nobody reads", olds, "", part(1, "g") + part(9, "\xff"), `(g,,,,{},[])`, ""},
		{"U+0000 that nobody reads", olds, "", part(1, "h") + part(9, "\x00"), `(h,,,,{},[])`, ""},
		{"a number for a text", olds, "", part(1, "i") + "\x10\x05", "", "name has another wire type than the schema gives it"},
		{"an enum number of 33 bits", olds, "", part(1, "j") + "\x28\x81\x80\x80\x80\x10", "", "letter has more than the 32 bits that the schema gives it"},
		{"a number for a text that nobody reads", olds, "", part(1, "k") + "\x48\x05", `(k,,,,{},[])`, ""},
		{"a required text that is missing", olds, "", part(2, "n"), "", "id is missing"},
		// An edition without validation, in a frame.
		{"a record key", loose, first + part(1, "k\xff"), second, "", "record key.id" + noText},
		{"the whole place", loose, "\x00\x00\x00\x00\x01\x02\x00" + part(1, "k"), second, `(k,)`, ""},
		{"a text in json", loose, first + part(1, "l"), second + part(1, part(1, "\xff")), "", "held" + noText},
		{"a name in json", loose, first + part(1, "m"), second + part(1, part(2, part(1, "\xff"))), "", "held holds a name that" + noText},
		{"a place that is cut off", loose, first + part(1, "n"), "\x00\x00\x00\x00\x01\x04\x02", "", "cannot be read: the message indexes after the schema id are malformed"},
		{"a place below another one", loose, first + part(1, "o"), "\x00\x00\x00\x00\x01\x04\x02\x02", "", "cannot be read: it is another message of the file, not odd.v2.Loose"},
		// Well-known types.
		{"an Any of the file", envelopes, "", envelope("a", "opened", held("odd.v1.Detail", part(1, "n")+packed(2, durationpb.New(1500000000)))),
			`(a,"{""note"": ""n"", ""took"": ""1.500s"", ""@type"": ""type.googleapis.com/odd.v1.Detail""}",,,)`, ""},
		{"an Any of a well-known type", envelopes, "", envelope("b", "opened", held("google.protobuf.Duration", "\x08\x01")), `(b,"{""@type"": ""type.googleapis.com/google.protobuf.Duration"", ""value"": ""1s""}",,,)`, ""},
		{"an Any of an unknown type", envelopes, "", envelope("c", "opened", held("odd.v1.SecretOfJoe", "")), "", "held is a google.protobuf.Any of a type that the schema does not have"},
		{"an Any of other bytes", envelopes, "", envelope("d", "opened", held("odd.v1.Detail", "\xff")), "", "held is a google.protobuf.Any whose bytes are not a message of its type"},
		{"a path of no form", envelopes, "", envelope("e", "opened", packed(4, &fieldmaskpb.FieldMask{Paths: []string{"secretOfJoe"}})), "", "paths is a google.protobuf.FieldMask that has no form in JSON"},
		{"a time out of range", envelopes, "", envelope("f", "opened", part(6, packed(2, &durationpb.Duration{Seconds: 1 << 50}))), "", "detail.took is a google.protobuf.Duration that has no form in JSON"},
		{"all of them, and nobody reads them", envelopes, "", envelope("g", "sealed", held("odd.v1.SecretOfJoe", "")+packed(4, &fieldmaskpb.FieldMask{Paths: []string{"secretOfJoe"}})+nan+
			part(6, packed(2, &durationpb.Duration{Seconds: 1 << 50}))+more+held("odd.v1.Detail", "\xff")), `(g,,,,)`, ""},
		// Avro.
		{"defaults at every depth", orders, "", "\x00\x00\x00\x00\x01" + wrote(writers[1], map[string]any{"id": "a"}), `(a,none,3,nowhere,"{""by"": ""default""}",f,)`, ""},
		{"a record that lacks fields", orders, "", "\x00\x00\x00\x00\x02" + wrote(shipped, map[string]any{"id": "b", "ship": map[string]any{"days": 5}}), `(b,none,5,nowhere,"{""by"": ""default""}",f,)`, ""},
		{"a boolean of another byte", orders, "", "\x00\x00\x00\x00\x03" + "\x02c\x07", "", "cannot be read: it is not a valid odd.Order, at gift: a boolean is neither 0 nor 1 (schema 3)"},
		{"a decimal of no bytes", orders, "", "\x00\x00\x00\x00\x04" + "\x02d\x00", "", "price is a decimal without bytes"},
		{"a record of another name", orders, "", "\x00\x00\x00\x00\x06" + "\x02g\x0a", "", "ship is of type other.Boat, not odd.Ship"},
		{"a text that nobody reads in Avro", orders, "", "\x00\x00\x00\x00\x05" + "\x02e\x02\xff", `(e,none,3,nowhere,"{""by"": ""default""}",f,)`, ""},
		{"a text of Avro", orders, "", "\x00\x00\x00\x00\x05" + "\x02\xff\x02a", "", "id" + noText},
	}...)
}

const (
	wroteBy = `{"type":"record","name":"Order","namespace":"odd","fields":[{"name":"id","type":"string"}`
	shipped = wroteBy + `,{"name":"ship","type":{"type":"record","name":"Ship","fields":[{"name":"days","type":"int"}]}}]}`
)

var writers = schemas{
	1: wroteBy + `]}`, 2: shipped, 3: wroteBy + `,{"name":"gift","type":"boolean"}]}`,
	4: wroteBy + `,{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":12,"scale":2}}]}`,
	5: wroteBy + `,{"name":"unread","type":"string"}]}`,
	6: wroteBy + `,{"name":"ship","type":{"type":"record","name":"other.Boat","fields":[{"name":"days","type":"int"}]}}]}`,
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A value that cannot be read makes a dead letter of the record if its event reads the value, and
// only then. No two values become one, and no reason holds a value. The oracle, which judges
// cases, says the same of records whose schema is the service's own.
func TestValuesThatCannotBeRead(t *testing.T) {
	db := idemtest.Migrated(t, filepath.Join(oddValues, "migrations"))
	c, err := oddities.NewConsumer(db, writers)
	if err != nil {
		t.Fatal(err)
	}
	byTopic := map[string][]oddRecord{}
	for _, r := range oddRecords(t) {
		byTopic[r.topic] = append(byTopic[r.topic], r)
	}
	in := oddOracle(t)
	for topic, all := range byTopic {
		var records []idem.Message
		for i, r := range all {
			m := idem.Message{Topic: topic, Offset: int64(i), LeaderEpoch: -1, Value: []byte(r.value)}
			switch {
			case topic == "readings.v1":
				for header := range strings.SplitSeq(r.key, "|") {
					name, value, _ := strings.Cut(header, "=")
					m.Headers = append(m.Headers, idem.Header{Name: name, Value: []byte(value)})
				}
			case r.key != "":
				m.Key = []byte(r.key)
			}
			records = append(records, m)
			if topic != "orders.v1" {
				judged(t, in, r, m)
			}
		}
		applyAll(t, c, topic, records)
		reasons := query(t, db, `SELECT reason FROM idem_dead_letter d JOIN idem_stream s USING (stream) WHERE s.topic = $1 ORDER BY offs`, topic)
		var wantReasons, wantRows []string
		for _, r := range all {
			if r.reason == "" && r.row == "" { // a copy
				continue
			}
			if r.reason == "" {
				wantRows = append(wantRows, r.row)
				continue
			}
			event := map[string]string{"olds.v1": "Old: ", "loose.v1": "Loose: ", "envelopes.v1": "Opened: ", "orders.v1": "Ordered: ", "readings.v1": "Reading: "}[topic]
			if strings.HasPrefix(r.reason, "cannot be read") {
				event = ""
			}
			wantReasons = append(wantReasons, "decode: "+event+r.reason)
		}
		if !slices.Equal(reasons, wantReasons) {
			t.Errorf("%s: dead letters\n%s\nwant\n%s", topic, strings.Join(reasons, "\n"), strings.Join(wantReasons, "\n"))
		}
		table := pgx.Identifier{strings.TrimSuffix(topic, ".v1")}.Sanitize()
		if rows := query(t, db, "SELECT r::text FROM "+table+" r ORDER BY id"); !slices.Equal(rows, wantRows) {
			t.Errorf("%s: rows\n%s\nwant\n%s", topic, strings.Join(rows, "\n"), strings.Join(wantRows, "\n"))
		}
	}
}

// applyAll applies records to a partition, and releases it after too many dead letters in a row.
func applyAll(t *testing.T, c *idem.Consumer, topic string, records []idem.Message) {
	t.Helper()
	w, err := idemtest.Own(t, c, topic, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Apply(t.Context(), records)
	if halted, is := errors.AsType[*idem.HaltedError](err); is && halted.Code == halt.DeadLetters {
		t.Fatalf("%s: more dead letters in a row than stop_after: put a record between them that is applied", topic)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func oddOracle(t *testing.T) *oracle.Interpreter {
	t.Helper()
	spec, _ := syntax.Load("idemgen.yaml", must(os.ReadFile(filepath.Join(oddValues, "idemgen.yaml"))))
	s, bad := resolve.Resolve(spec)
	if s == nil {
		t.Fatal(bad)
	}
	read, bad := messages.Read(spec, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(oddValues, path)) })
	bad.Append(read.Attach(s))
	if bad.Errors() > 0 {
		t.Fatal(bad)
	}
	return oracle.New(s)
}

func judged(t *testing.T, in *oracle.Interpreter, r oddRecord, m idem.Message) {
	t.Helper()
	record := oracle.Record{Topic: m.Topic, Key: m.Key, Value: m.Value}
	for _, h := range m.Headers {
		record.Headers = append(record.Headers, oracle.Header(h))
	}
	_, out := in.Decode(record)
	if (out.Kind == oracle.Applied) != (r.reason == "") {
		t.Errorf("%s: the oracle says %s %s: %q", r.name, out.Path, out.Detail, fmt.Sprint(out.Kind))
	}
}

// query returns the rows of a query with one text.
func query(t *testing.T, db *pgxpool.Pool, sql string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
