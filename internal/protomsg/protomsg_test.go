package protomsg_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemgen/idemgen/internal/gen/protofile"
	"github.com/idemgen/idemgen/internal/protomsg"
)

const file = `syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "money.proto";

message First {}

message Order {
  string id = 1;
  optional string note = 2;
  int64 cents = 3;
  uint64 big = 4;
  bool gift = 5;
  double ratio = 6;
  bytes raw = 7;
  Channel channel = 8;
  google.protobuf.Timestamp at = 9;
  google.protobuf.StringValue code = 10;
  repeated Line lines = 11;
  map<string, int32> counts = 12;
  oneof event {
    Placed placed = 13;
    Money paid = 14;
  }
  float share = 15;
  message Placed { string by = 1; }
}

message Line { string sku = 1; sint32 qty = 2; }

enum Channel { CHANNEL_UNSPECIFIED = 0; CHANNEL_WEB = 1; }
`

// set are the files of the tests.
func set(t *testing.T) []byte {
	t.Helper()
	set, err := protofile.Compile(func(path string) ([]byte, error) {
		switch path {
		case "order.proto":
			return []byte(file), nil
		case "money.proto":
			return []byte("syntax = \"proto3\";\npackage shop.v1;\nmessage Money { string amount = 1; }\n"), nil
		}
		return nil, errors.New("no such file")
	}, "order.proto")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func typeOf(t *testing.T, message string, framed bool) *protomsg.Type {
	t.Helper()
	is, err := protomsg.New(set(t), message, framed)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

const whole = `{"id":"a\"<b","note":"","cents":-9007199254740993,"big":18446744073709551615,"gift":true,"ratio":0.1,"raw":"AP8=",` +
	`"channel":"CHANNEL_WEB","at":"2026-01-31T12:00:00.000001Z","code":"007","lines":[{"sku":"s","qty":-2},{"sku":"","qty":0}],"counts":{"x":1},` +
	`"event":"paid","paid":{"amount":"9.90"},"share":1.5}`

const least = `{"id":"","cents":0,"big":0,"gift":false,"ratio":0,"raw":"","channel":"CHANNEL_UNSPECIFIED","lines":[],"counts":{},"share":0}`

// What is packed is opened again, whole and with nothing in it, in a frame or not.
func TestMessagesAreJSON(t *testing.T) {
	for _, framed := range []bool{false, true} {
		is := typeOf(t, "shop.v1.Order", framed)
		for packed, want := range map[string]string{
			whole: whole, `{}`: least,
			`{"lines":[{"qty":1}],"paid":{"amount":9.90},"code":7,"kind":"x"}`: strings.NewReplacer(
				`"lines":[]`, `"code":"7","lines":[{"sku":"","qty":1}]`, `"share"`, `"event":"paid","paid":{"amount":"9.90"},"share"`).Replace(least),
		} {
			value, err := is.Pack([]byte(packed))
			if err != nil {
				t.Fatalf("%s: %v", packed, err)
			}
			if got, err := is.Open([]byte("_"), value); err != nil || string(got) != "_"+want {
				t.Errorf("framed %v: %v\n got %s\nwant _%s", framed, err, got, want)
			}
			if _, err := is.Open(nil, append(value, 0xff)); err == nil {
				t.Error("a message with a broken end is opened")
			}
		}
	}
}

// A frame must be there, and be of the message.
func TestFrames(t *testing.T) {
	order, first := typeOf(t, "shop.v1.Order", true), typeOf(t, "shop.v1.First", true)
	if text, err := first.Open(nil, []byte("\x00\x00\x00\x00\x01\x02\x00")); err != nil || string(text) != "{}" {
		t.Errorf("the place of the first message in full: %s, %v", text, err)
	}
	if text, err := first.Open(nil, []byte("\x00\x00\x00\x00\x01\x02")); err == nil {
		t.Errorf("a place that is cut off: %s", text)
	}
	placed := typeOf(t, "shop.v1.Order.Placed", true)
	value, err := order.Pack([]byte(`{"id":"a"}`))
	if err != nil || string(value) != "\x00\x00\x00\x00\x01\x02\x02\n\x01a" {
		t.Errorf("%q, %v", value, err)
	}
	if value, err := first.Pack([]byte(`{}`)); err != nil || string(value) != "\x00\x00\x00\x00\x01\x00" {
		t.Errorf("%q, %v", value, err)
	}
	if value, err := placed.Pack([]byte(`{}`)); err != nil || string(value) != "\x00\x00\x00\x00\x01\x04\x02\x02" {
		t.Errorf("%q, %v", value, err)
	}
	for text, bad := range map[string]string{
		"it does not begin with a zero byte":                    "\x01\x00\x00\x00\x01\x02\x02",
		"it does not begin with a zero byte and":                "\x00\x00",
		"it is another message of the file, not shop.v1.Order":  "\x00\x00\x00\x00\x01\x00",
		"it is another message of the file, not shop.v1.Ord":    "\x00\x00\x00\x00\x01\x04\x02\x02",
		"the message indexes after the schema id":               "\x00\x00\x00\x00\x01",
		"the message indexes after the schema id are":           "\x00\x00\x00\x00\x01\x01\x02",
		"the message indexes after the schema id are malformed": "\x00\x00\x00\x00\x01\x02\x01",
		"the message indexes after the schema":                  "\x00\x00\x00\x00\x01\x08\x02\x02",
		"the message indexes after":                             "\x00\x00\x00\x00\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
		"it is not a valid message shop.v1.Order":               "\x00\x00\x00\x00\x01\x02\x02\n\x02a",
		"it is not a valid message shop.v1.Orde":                "\x00\x00\x00\x00\x01\x02\x02\n\x01\xff",
	} {
		if _, err := order.Open(nil, []byte(bad)); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%q: %v, want %s", bad, err, text)
		}
	}
	if _, err := protomsg.New(nil, "shop.v1.None", false); err == nil {
		t.Error("a message is found that is not there")
	}
	if _, err := protomsg.New(set(t), "shop.v1.Channel", false); err == nil || err.Error() != "shop.v1.Channel is not a message" {
		t.Errorf("an enum is a message: %v", err)
	}
}

// What a message becomes is limited while it grows: a megabyte of empty lines takes no memory for
// the hundreds of megabytes of JSON that they would be.
func TestJSONOfAMessageIsLimited(t *testing.T) {
	is := typeOf(t, "shop.v1.Order", false)
	value := bytes.Repeat([]byte{11<<3 | 2, 0}, 1<<19) // lines
	const most = 1 << 20
	out, _, err := is.OpenWithin(nil, value, most)
	if err == nil || !strings.Contains(err.Error(), "it becomes more than 1048576 bytes of JSON (limits.max_payload)") || out != nil {
		t.Errorf("got %d bytes, %v", len(out), err)
	}
	if out, _, err := is.OpenWithin(nil, value[:2000], most); err != nil || len(out) < 19_000 {
		t.Errorf("a thousand lines: %d bytes, %v", len(out), err)
	}
	for most, fits := range map[int]bool{1: false, 2: true} {
		if out, _, err := typeOf(t, "shop.v1.First", false).OpenWithin(nil, nil, most); (err == nil) != fits {
			t.Errorf("an empty message of at most %d bytes: %s, %v", most, out, err)
		}
	}
	if _, _, err := is.OpenWithin(nil, value[:2], 10); err == nil {
		t.Error("a message that is longer at its end only is opened")
	}
}

// A map has one order, whatever that of its message: the JSON may be a key as a whole.
func TestJSONOfAMessageIsTheSameEachTime(t *testing.T) {
	is := typeOf(t, "shop.v1.Order", false)
	value, err := is.Pack([]byte(`{"counts":{"c":3,"b":2,"a":1,"d":4}}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if got, err := is.Open(nil, value); err != nil || !strings.Contains(string(got), `"counts":{"a":1,"b":2,"c":3,"d":4}`) {
			t.Fatalf("%v: %s", err, got)
		}
	}
}

// A field that the producer has widened to 64 bits is read if its value fits, and refused if not:
// cut to 32 bits, two numbers would be one.
func TestNumbersAreNotCut(t *testing.T) {
	is := typeOf(t, "shop.v1.Order", false)
	line := func(qty int64) []byte { // sint32 qty = 2 of lines = 11, and counts = 12 of x
		of := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), protowire.EncodeZigZag(qty))
		entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "x")
		entry = protowire.AppendVarint(protowire.AppendTag(entry, 2, protowire.VarintType), uint64(qty))
		out := protowire.AppendBytes(protowire.AppendTag(nil, 11, protowire.BytesType), of)
		return protowire.AppendBytes(protowire.AppendTag(out, 12, protowire.BytesType), entry)
	}
	for _, n := range []int64{0, -1, math.MaxInt32, math.MinInt32} {
		if got, err := is.Open(nil, line(n)); err != nil || !strings.Contains(string(got), fmt.Sprintf(`"qty":%d}`, n)) || !strings.Contains(string(got), fmt.Sprintf(`{"x":%d}`, n)) {
			t.Errorf("%d: %v, %s", n, err, got)
		}
	}
	for _, n := range []int64{math.MaxInt32 + 1, math.MinInt32 - 1, 1<<32 + 5, math.MaxInt64, math.MinInt64} {
		_, why, err := is.OpenWithin(nil, line(n), 0)
		if err != nil || len(why) != 2 {
			t.Errorf("%d: %v, %v", n, err, why)
		}
		for _, reason := range why {
			if !strings.Contains(reason, "more than the 32 bits") {
				t.Errorf("%d: %q", n, reason)
			}
		}
	}
}
