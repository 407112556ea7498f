package wire

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// textMethods are the ways to read a Text.
var textMethods = map[string]func(Text) any{
	"String": func(t Text) any { return t.String() }, "UUID": func(t Text) any { return t.UUID() },
	"Bool": func(t Text) any { return t.Bool() }, "Int32": func(t Text) any { return t.Int32() },
	"Int64": func(t Text) any { return t.Int64() }, "Float64": func(t Text) any { return t.Float64() },
	"Decimal": func(t Text) any { return t.Decimal() }, "Time": func(t Text) any { return t.Time() },
	"EpochS": func(t Text) any { return t.Epoch(time.Second) }, "EpochMS": func(t Text) any { return t.Epoch(time.Millisecond) },
	"EpochUS": func(t Text) any { return t.Epoch(time.Microsecond) }, "EpochNS": func(t Text) any { return t.Epoch(time.Nanosecond) },
	"LocalTime": func(t Text) any { return t.LocalTime() }, "Date": func(t Text) any { return t.Date() },
	"EpochDays": func(t Text) any { return t.EpochDays() }, "Bytes": func(t Text) any { return string(t.Bytes()) },
	"Enum": func(t Text) any { return EnumText(t, colors) },
	"Raw":  func(t Text) any { return string(t.Raw()) },
}

// A header is read by its type, the whole text of it, or refused with its path.
func TestText(t *testing.T) {
	noon := at("2024-02-29T12:00:00Z")
	for _, c := range []struct {
		method, in string
		want       any // a value, or an error's reason
	}{
		{"String", "plain", "plain"}, {"String", "", ""}, {"String", "a\x00", notation.HoldsNUL}, {"String", "a\xff", notation.NotUTF8},
		{"Raw", "a\x00\xff", "a\x00\xff"}, {"Raw", "", ""},
		{"UUID", "7D2A1F0E-8b7a-4c31-9d52-0a1b2c3d4e5f", UUID{0x7d, 0x2a, 0x1f, 0x0e, 0x8b, 0x7a, 0x4c, 0x31, 0x9d, 0x52, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f}},
		{"UUID", "", "must be a UUID of 36 characters"}, {"UUID", "7d2a1f0e8b7a4c319d520a1b2c3d4e5f", "must be a UUID of 36 characters"},
		{"Bool", "true", true}, {"Bool", "false", false}, {"Bool", "TRUE", "must be true or false"}, {"Bool", "", "must be true or false"},
		{"Int32", "-7", int32(-7)}, {"Int32", "2147483648", notation.OutOfRange}, {"Int32", "7 ", notation.NotInteger}, {"Int32", "", notation.NotInteger},
		{"Int64", "9007199254740993", int64(9007199254740993)}, {"Int64", "1.0", notation.NotInteger}, {"Int64", "07", "has a leading zero"},
		{"Float64", "-1.5e1", -15.0}, {"Float64", "NaN", notation.NotNumber}, {"Float64", "0x1p-2", notation.NotNumber}, {"Float64", "1_0", notation.NotNumber}, {"Float64", "1e999", notation.OutOfRange},
		{"Float64", "1e-400", notation.OutOfRange}, {"Float64", "0e-400", 0.0},
		{"Decimal", "1.50", MustDecimal("1.50")}, {"Decimal", "15e-1", MustDecimal("1.5")}, {"Decimal", "", "must be a decimal number"}, {"Decimal", "1e1001", notation.TooManyDigits},
		{"Time", "2024-02-29T13:00:00.0000009+01:00", noon}, {"Time", "2024-02-29T13:00:00", notation.NotTime}, {"Time", "", notation.NotTime},
		{"EpochS", "1709208000", noon}, {"EpochMS", "1709208000000", noon}, {"EpochUS", "1709208000000000", noon}, {"EpochNS", "1709208000000000999", noon},
		{"EpochMS", "1709208000", notation.WrongUnit}, {"EpochS", "x", notation.NotInteger},
		{"LocalTime", "2024-02-29T12:00:00", LocalTime(noon.UnixMicro())}, {"LocalTime", "2024-02-29T12:00:00Z", notation.NotLocalTime},
		{"Date", "1970-01-02", Date(1)}, {"Date", "1970-01-02 ", notation.NotDate}, {"EpochDays", "-1", Date(-1)}, {"EpochDays", "2932897", notation.OutOfRange},
		{"Bytes", "AAE=", "\x00\x01"}, {"Bytes", "", ""}, {"Bytes", "AAE", "must be base64 with padding"},
		{"Enum", "red", "red"}, {"Enum", "", ""}, {"Enum", "Red", "must be one of the texts of its enum"},
	} {
		var s Reader
		m := &Message{Headers: []Header{{"other", []byte("x")}, {"h", []byte(c.in)}}}
		for _, start := range []func(){s.Lend, s.Own} {
			start()
			got := textMethods[c.method](s.Header(m, "h"))
			if err := s.Err("E"); err != nil {
				got = strings.TrimPrefix(err.Error(), "decode: E: header h ")
			}
			if got != c.want {
				t.Errorf("%s(%q): got %v, want %v", c.method, c.in, got, c.want)
			}
		}
	}
}

// A Text whose source failed reads as zero by every method, and the first error stays.
func TestTextAfterAnError(t *testing.T) {
	var s Reader
	m := &Message{Headers: []Header{{"h", []byte("?")}}}
	for name, read := range textMethods {
		s.Lend()
		missing := s.Header(m, "missing")
		if got := read(missing); !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: got %v", name, got)
		}
		if s.Header(m, "h").String() != "" {
			t.Errorf("%s: read on after an error", name)
		}
		if err := s.Err("E"); text(err) != `decode: E: header missing is missing; the record has "h"` {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Headers must be there once; optional ones may be missing or null, but not repeated.
func TestHeaderSources(t *testing.T) {
	one := []byte("1")
	for _, c := range []struct {
		headers        []Header
		required, opti string
		found          bool
	}{
		{[]Header{{"h", one}}, "", "", true},
		{[]Header{{"h", []byte{}}}, "", "", true},
		{[]Header{{"H", one}}, `decode: E: header h is missing; the record has "H"`, "", false},
		{[]Header{{"h", nil}}, "decode: E: header h must not be null", "", false},
		{[]Header{{"h", one}, {"x", one}, {"h", one}}, "decode: E: header h occurs 2 times", "decode: E: header h occurs 2 times", false},
		{[]Header{{"h", nil}, {"h", nil}}, "decode: E: header h occurs 2 times", "decode: E: header h occurs 2 times", false},
	} {
		var s Reader
		m := &Message{Headers: c.headers}
		s.Lend()
		s.Header(m, "h")
		if got := text(s.Err("E")); got != c.required {
			t.Errorf("%v: got %s", c.headers, got)
		}
		s.Lend()
		_, found := s.OptHeader(m, "h")
		if got := text(s.Err("E")); got != c.opti || found != c.found {
			t.Errorf("%v: optional: got %s, %v", c.headers, got, found)
		}
	}
}

// The record's own parts are checked when they are read.
func TestRecordSources(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Message
		read func(*Reader, *Message) any
		want any
	}{
		{"key", Message{Key: []byte("k")}, func(s *Reader, m *Message) any { return s.RecordKey(m).String() }, "k"},
		{"no key", Message{}, func(s *Reader, m *Message) any { return s.RecordKey(m).String() }, "decode: E: record key is missing"},
		{"empty key", Message{Key: []byte{}}, func(s *Reader, m *Message) any { return s.RecordKey(m).String() }, "decode: E: record key is empty"},
		{"bad key", Message{Key: []byte("x")}, func(s *Reader, m *Message) any { return s.RecordKey(m).Int32() }, "decode: E: record key must be an integer"},
		{"binary key", Message{Key: []byte{0xff, 0xff, 0xff, 0xfe}}, func(s *Reader, m *Message) any { return s.RecordKey(m).BinaryInt32() }, int32(-2)},
		{"long binary key", Message{Key: []byte{1, 0, 0, 0, 0, 0, 0, 2}}, func(s *Reader, m *Message) any { return s.RecordKey(m).BinaryInt64() }, int64(1<<56 + 2)},
		{"binary UUID", Message{Key: []byte("ABCDEFGHabcdefgh")}, func(s *Reader, m *Message) any { return s.RecordKey(m).BinaryUUID().String() }, "41424344-4546-4748-6162-636465666768"},
		{"short binary key", Message{Key: []byte("1234")}, func(s *Reader, m *Message) any { return s.RecordKey(m).BinaryInt64() }, "decode: E: record key has 4 bytes, not 8"},
		{"empty binary key", Message{Key: []byte{}}, func(s *Reader, m *Message) any { return s.RecordKey(m).BinaryUUID() }, "decode: E: record key is empty"},
		{"value", Message{Value: []byte{}}, func(s *Reader, m *Message) any { return s.RecordValue(m).String() }, ""},
		{"no value", Message{}, func(s *Reader, m *Message) any { return s.RecordValue(m).String() }, "decode: E: record value is missing"},
		{"time", Message{Time: time.Unix(1, 1999)}, func(s *Reader, m *Message) any { return s.RecordTime(m) }, time.Unix(1, 1000).UTC()},
		{"no time", Message{}, func(s *Reader, m *Message) any { return s.RecordTime(m) }, "decode: E: record timestamp is missing"},
		{"far time", Message{Time: time.UnixMilli(1 << 62)}, func(s *Reader, m *Message) any { return s.RecordTime(m) }, "decode: E: record timestamp is out of range"},
	} {
		var s Reader
		s.Lend()
		got := c.read(&s, &c.m)
		if err := s.Err("E"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
