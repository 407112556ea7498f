package wire

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// textMethods are the ways to read a Text.
var textMethods = map[string]func(Text) any{
	"String": func(t Text) any { return t.String() }, "UUID": func(t Text) any { return t.UUID() },
	"Bool": func(t Text) any { return t.Bool() }, "Int32": func(t Text) any { return t.Int32() },
	"Int64": func(t Text) any { return t.Int64() }, "Float64": func(t Text) any { return t.Float64() },
	"Decimal": func(t Text) any { return t.Decimal() }, "Time": func(t Text) any { return t.Time() },
	"EpochS": func(t Text) any { return t.EpochS() }, "EpochMS": func(t Text) any { return t.EpochMS() },
	"EpochUS": func(t Text) any { return t.EpochUS() }, "EpochNS": func(t Text) any { return t.EpochNS() },
	"LocalTime": func(t Text) any { return t.LocalTime() }, "Date": func(t Text) any { return t.Date() },
	"EpochDays": func(t Text) any { return t.EpochDays() }, "Bytes": func(t Text) any { return string(t.Bytes()) },
	"JSON": func(t Text) any { return string(t.JSON()) }, "Enum": func(t Text) any { return t.Enum(colors) },
	"Raw": func(t Text) any { return string(t.Raw()) },
}

// A header is read by its type, the whole text of it, or refused with its path.
func TestText(t *testing.T) {
	noon := at("2024-02-29T12:00:00Z")
	for _, c := range []struct {
		method, in string
		want       any // a value, or an error's reason
	}{
		{"String", "plain", "plain"}, {"String", "", ""}, {"String", "a\x00", holdsNUL}, {"String", "a\xff", notUTF8},
		{"Raw", "a\x00\xff", "a\x00\xff"}, {"Raw", "", ""},
		{"UUID", "7D2A1F0E-8b7a-4c31-9d52-0a1b2c3d4e5f", UUID{0x7d, 0x2a, 0x1f, 0x0e, 0x8b, 0x7a, 0x4c, 0x31, 0x9d, 0x52, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f}},
		{"UUID", "", "must be a UUID of 36 characters"}, {"UUID", "7d2a1f0e8b7a4c319d520a1b2c3d4e5f", "must be a UUID of 36 characters"},
		{"Bool", "true", true}, {"Bool", "false", false}, {"Bool", "TRUE", "must be true or false"}, {"Bool", "", "must be true or false"},
		{"Int32", "-7", int32(-7)}, {"Int32", "2147483648", outOfRange}, {"Int32", "7 ", notInteger}, {"Int32", "", notInteger},
		{"Int64", "9007199254740993", int64(9007199254740993)}, {"Int64", "1.0", notInteger}, {"Int64", "07", "has a leading zero"},
		{"Float64", "-1.5e1", -15.0}, {"Float64", "NaN", notNumber}, {"Float64", "0x1p-2", notNumber}, {"Float64", "1_0", notNumber}, {"Float64", "1e999", outOfRange},
		{"Float64", "1e-400", outOfRange}, {"Float64", "0e-400", 0.0},
		{"Decimal", "1.50", MustDecimal("1.50")}, {"Decimal", "15e-1", MustDecimal("1.5")}, {"Decimal", "", "must be a decimal number"}, {"Decimal", "1e1001", tooManyDigits},
		{"Time", "2024-02-29T13:00:00.0000009+01:00", noon}, {"Time", "2024-02-29T13:00:00", notATime}, {"Time", "", notATime},
		{"EpochS", "1709208000", noon}, {"EpochMS", "1709208000000", noon}, {"EpochUS", "1709208000000000", noon}, {"EpochNS", "1709208000000000999", noon},
		{"EpochMS", "1709208000", wrongUnit}, {"EpochS", "x", notInteger},
		{"LocalTime", "2024-02-29T12:00:00", LocalTime(noon.UnixMicro())}, {"LocalTime", "2024-02-29T12:00:00Z", notALocalTime},
		{"Date", "1970-01-02", Date(1)}, {"Date", "1970-01-02 ", notADate}, {"EpochDays", "-1", Date(-1)}, {"EpochDays", "2932897", outOfRange},
		{"Bytes", "AAE=", "\x00\x01"}, {"Bytes", "", ""}, {"Bytes", "AAE", "must be base64 with padding"},
		{"JSON", ` {"a": 1}`, `{"a": 1}`}, {"JSON", `{} x`, "has data after its end"}, {"JSON", "", "is empty"}, {"JSON", "null", "must not be null"}, {"JSON", `"\u0000"`, holdsNUL},
		{"Enum", "red", "red"}, {"Enum", "", ""}, {"Enum", "Red", "must be one of the texts of its enum"},
	} {
		var s Scanner
		m := &Message{Headers: []Header{{"other", []byte("x")}, {"h", []byte(c.in)}}}
		for _, start := range []func(*Message){s.Borrow, s.Reset} {
			start(m)
			got := textMethods[c.method](s.Header(m, "h"))
			if err := s.Finish("E"); err != nil {
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
	var s Scanner
	m := &Message{Headers: []Header{{"h", []byte("?")}}}
	for name, read := range textMethods {
		s.Borrow(m)
		missing := s.Header(m, "missing")
		if got := read(missing); !reflect.ValueOf(got).IsZero() {
			t.Errorf("%s: got %v", name, got)
		}
		if s.Header(m, "h").String() != "" {
			t.Errorf("%s: read on after an error", name)
		}
		if err := s.Finish("E"); text(err) != "decode: E: header missing is missing" {
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
		{[]Header{{"H", one}}, "decode: E: header h is missing", "", false},
		{[]Header{{"h", nil}}, "decode: E: header h must not be null", "", false},
		{[]Header{{"h", one}, {"x", one}, {"h", one}}, "decode: E: header h occurs 2 times", "decode: E: header h occurs 2 times", false},
		{[]Header{{"h", nil}, {"h", nil}}, "decode: E: header h occurs 2 times", "decode: E: header h occurs 2 times", false},
	} {
		var s Scanner
		m := &Message{Headers: c.headers}
		s.Borrow(m)
		s.Header(m, "h")
		if got := text(s.Finish("E")); got != c.required {
			t.Errorf("%v: got %s", c.headers, got)
		}
		s.Borrow(m)
		_, found := s.OptHeader(m, "h")
		if got := text(s.Finish("E")); got != c.opti || found != c.found {
			t.Errorf("%v: optional: got %s, %v", c.headers, got, found)
		}
	}
}

// Optional texts are nil when absent and a pointer to the value when there.
func TestOptionalText(t *testing.T) {
	methods := map[string]func(Text) any{
		"x": func(t Text) any { return t.OptString() }, "7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f": func(t Text) any { return t.OptUUID() },
		"true": func(t Text) any { return t.OptBool() }, "1": func(t Text) any { return t.OptInt32() },
		"2": func(t Text) any { return t.OptInt64() }, "3": func(t Text) any { return t.OptFloat64() },
		"4": func(t Text) any { return t.OptDecimal() }, "2024-02-29T12:00:00Z": func(t Text) any { return t.OptTime() },
		"1709208000": func(t Text) any { return t.OptEpochS() }, "1709208000000": func(t Text) any { return t.OptEpochMS() },
		"1709208000000000": func(t Text) any { return t.OptEpochUS() }, "1709208000000000000": func(t Text) any { return t.OptEpochNS() },
		"2024-02-29T12:00:00": func(t Text) any { return t.OptLocalTime() }, "2024-02-29": func(t Text) any { return t.OptDate() },
		"5": func(t Text) any { return t.OptEpochDays() }, "AAE=": func(t Text) any { return t.OptBytes() },
		"{}": func(t Text) any { return t.OptJSON() }, "red": func(t Text) any { return t.OptEnum(colors) },
	}
	for in, read := range methods {
		var s Scanner
		m := &Message{Headers: []Header{{"h", []byte(in)}, {"null", nil}}}
		s.Borrow(m)
		there, _ := s.OptHeader(m, "h")
		absent, _ := s.OptHeader(m, "absent")
		null, _ := s.OptHeader(m, "null")
		if v := reflect.ValueOf(read(there)); v.IsNil() {
			t.Errorf("%s: nil", in)
		}
		for _, none := range []Text{absent, null} {
			if v := reflect.ValueOf(read(none)); !v.IsNil() {
				t.Errorf("%s: absent is %v", in, v)
			}
		}
		if err := s.Finish("E"); err != nil {
			t.Error(err)
		}
	}
}

// The record's own parts are checked when they are read.
func TestRecordSources(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Message
		read func(*Scanner, *Message) any
		want any
	}{
		{"key", Message{Key: []byte("k")}, func(s *Scanner, m *Message) any { return s.RecordKey(m).String() }, "k"},
		{"no key", Message{}, func(s *Scanner, m *Message) any { return s.RecordKey(m).String() }, "decode: E: record key is missing"},
		{"empty key", Message{Key: []byte{}}, func(s *Scanner, m *Message) any { return s.RecordKey(m).String() }, "decode: E: record key is empty"},
		{"bad key", Message{Key: []byte("x")}, func(s *Scanner, m *Message) any { return s.RecordKey(m).Int32() }, "decode: E: record key must be an integer"},
		{"value", Message{Value: []byte{}}, func(s *Scanner, m *Message) any { return s.RecordValue(m).String() }, ""},
		{"no value", Message{}, func(s *Scanner, m *Message) any { return s.RecordValue(m).String() }, "decode: E: record value is missing"},
		{"time", Message{Time: time.Unix(1, 1999)}, func(s *Scanner, m *Message) any { return s.RecordTime(m) }, time.Unix(1, 1000).UTC()},
		{"no time", Message{}, func(s *Scanner, m *Message) any { return s.RecordTime(m) }, "decode: E: record timestamp is missing"},
		{"far time", Message{Time: time.UnixMilli(1 << 62)}, func(s *Scanner, m *Message) any { return s.RecordTime(m) }, "decode: E: record timestamp is out of range"},
	} {
		var s Scanner
		s.Borrow(&c.m)
		got := c.read(&s, &c.m)
		if err := s.Finish("E"); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
