package avromsg_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/avromsg"
)

// TestValuesThatDoNotFitAreNotPacked: the error of a value that is not of its type names the
// field, the value and the type; values at the ends of a type are packed.
func TestValuesThatDoNotFitAreNotPacked(t *testing.T) {
	of := typeOf(t, order, "")
	for _, c := range []struct{ members, want string }{ // "" is packed
		{`"n":2147483647`, ""},
		{`"n":-2147483648`, ""},
		{`"n":2147483648`, "n: 2147483648 is not of type int"},
		{`"n":1.5`, "n: 1.5 is not of type int"},
		{`"n":"1"`, `n: "1" is not of type int`},
		{`"n":""`, `n: "" is not of type int`},
		{`"cents":9223372036854775807`, ""},
		{`"cents":9223372036854775808`, "cents: 9223372036854775808 is not of type long"},
		{`"gift":"true"`, `gift: "true" is not of type boolean`},
		{`"ratio":"NaN"`, ""},
		{`"ratio":"nan"`, `ratio: "nan" is not of type double`},
		{`"share":true`, "share: true is not of type float"},
		{`"raw":"A"`, "raw: illegal base64"},
		{`"raw":7`, "raw: 7 is not of type bytes"},
		{`"total":12345678.99`, ""},
		{`"total":"-12345678.99"`, ""},
		{`"total":123456789.00`, "total: 123456789.00 has more than 10 digits"},
		{`"total":0.005`, "total: 0.005 has more than 2 digits after the point"},
		{`"total":"x"`, `total: "x" is not of type decimal`},
		{`"total":null`, "total: null is not of type decimal"},
		{`"day":"2026-02-30"`, `day: "2026-02-30" is not of type date`},
		{`"at":7`, ""},
		{`"note":null`, ""},
		{`"note":"x"`, ""},
		{`"channel":"SHOP"`, `channel: "SHOP" is not one of UNKNOWN, WEB`},
		{`"channel":1`, "channel: 1 is not of type enum"},
		{`"lines":{}`, "lines: {} is not of type array"},
		{`"lines":[{"sku":"s"},{"sku":{}}]`, "lines: sku: {} is not of type string"},
		{`"lines":[7]`, "lines: 7 is not of type record"},
		{`"counts":[]`, "counts: [] is not of type map"},
		{`"counts":{"a":"b"}`, `counts: "b" is not of type int`},
		{`"paid":{"type":"string","string":"cash"}`, ""},
		{`"paid":{"type":"Card","Card":{"last4":[]}}`, "paid: Card: last4: [] is not of type string"},
		{`"paid":{"type":"Cash"}`, `paid: its union has no type "Cash"`},
		{`"paid":7`, `paid: its union has no type ""`},
		{`"unknown":7`, ""},
		{`"cents":"` + strings.Repeat("x", 50) + `"`, "cents: it is not of type long"},
	} {
		_, err := of.Pack([]byte("{" + c.members + "}"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.members, err, c.want)
		}
	}
	for _, text := range []string{`[]`, `7`, `{`} {
		if _, err := of.Pack([]byte(text)); err == nil {
			t.Errorf("%s is packed", text)
		}
	}
}

// TestSamplesAreOfTheirOwnSchema: a framed sample has the number of its type, and one of another
// schema is refused.
func TestSamplesAreOfTheirOwnSchema(t *testing.T) {
	of := typeOf(t, `"int"`, "")
	of.Number = 7
	framed := avromsg.Sample{Of: of, Framed: true}
	value, err := framed.Pack([]byte("-3"))
	if err != nil || string(value) != "\x00\x00\x00\x00\x07\x05" {
		t.Fatalf("packed %q, %v", value, err)
	}
	if out, err := framed.Open([]byte("is "), value); err != nil || string(out) != "is -3" {
		t.Errorf("opened %q, %v", out, err)
	}
	if plain, err := (avromsg.Sample{Of: of}).Pack([]byte("-3")); err != nil || string(plain) != "\x05" {
		t.Errorf("packed without a frame %q, %v", plain, err)
	}
	value[4] = 8
	if _, err := framed.Open(nil, value); err == nil || !strings.Contains(err.Error(), "not with the type's own, 7") {
		t.Errorf("of another schema: %v", err)
	}
	if _, err := framed.Open(nil, []byte("\x05")); err == nil {
		t.Error("a value without a frame is opened")
	}
	if _, err := framed.Pack([]byte(`"x"`)); err == nil {
		t.Error("a value of another type is packed")
	}
}
