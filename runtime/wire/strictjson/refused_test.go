package strictjson_test

import (
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/asjson"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/strictjson"
)

// Whatever reads a value that could not be unpacked gives the reason, and nothing of the value. A
// value that nobody reads fails no record.
func TestWhateverReadsARefusedValueSaysWhy(t *testing.T) {
	const why = "is not valid UTF-8"
	write := func() (text []byte, reasons map[int]string) {
		var w asjson.Writer
		text = append(w.Refuse([]byte(`{"x":`), why), `,"map":{`...)
		text = append(w.Refuse(text, "holds a name that "+why), `:1},"y":1}`...)
		return text, w.Why
	}
	enum := []string{"a"}
	for name, read := range map[string]func(s *strictjson.Scanner){
		"String": func(s *strictjson.Scanner) { _ = s.String() }, "UUID": func(s *strictjson.Scanner) { s.UUID() }, "Bool": func(s *strictjson.Scanner) { s.Bool() },
		"Int32": func(s *strictjson.Scanner) { s.Int32() }, "Int64": func(s *strictjson.Scanner) { s.Int64() }, "Float64": func(s *strictjson.Scanner) { s.Float64() },
		"Decimal": func(s *strictjson.Scanner) { s.Decimal() }, "DecimalBytes": func(s *strictjson.Scanner) { s.DecimalBytes(1) },
		"DecimalStruct": func(s *strictjson.Scanner) { s.DecimalStruct() }, "Time": func(s *strictjson.Scanner) { s.Time() },
		"Epoch": func(s *strictjson.Scanner) { s.Epoch(time.Second) }, "LocalTime": func(s *strictjson.Scanner) { s.LocalTime() },
		"LocalTimeArray": func(s *strictjson.Scanner) { s.LocalTimeArray() }, "Date": func(s *strictjson.Scanner) { s.Date() },
		"DateArray": func(s *strictjson.Scanner) { s.DateArray() }, "EpochDays": func(s *strictjson.Scanner) { s.EpochDays() },
		"Bytes": func(s *strictjson.Scanner) { s.Bytes() }, "JSON": func(s *strictjson.Scanner) { s.JSON() },
		"Enum": func(s *strictjson.Scanner) { strictjson.Enum(s, enum) }, "Object": (*strictjson.Scanner).Object, "Array": (*strictjson.Scanner).Array,
		"Map":   func(s *strictjson.Scanner) { strictjson.Map(s, nil, s.String) },
		"Opt":   func(s *strictjson.Scanner) { strictjson.Opt(s, s.String) },
		"Patch": func(s *strictjson.Scanner) { strictjson.Patch(s, s.String) },
	} {
		for _, key := range []bool{false, true} {
			var s strictjson.Scanner
			text, reasons := write()
			m, want := (&wire.Message{}).Unpacked(text, reasons), "decode: E: x "+why
			if key {
				m, want = (&wire.Message{}).UnpackedKey(text, reasons), "decode: E: record key.x "+why
			}
			if s.Borrow(m); key {
				s.NextKey(m)
			}
			for s.Object(); s.Member(); {
				if s.Name() == "x" {
					read(&s)
				} else {
					s.Skip()
				}
			}
			if err := s.Finish("E"); err == nil || err.Error() != want {
				t.Errorf("%s, record key %v: %v, want %s", name, key, err, want)
			}
		}
	}
	text, reasons := write()
	m := (&wire.Message{Key: []byte("k")}).Unpacked(text, reasons)
	var s strictjson.Scanner
	s.Borrow(m)
	for s.Object(); s.Member(); {
		if s.Name() == "map" {
			strictjson.Map(&s, nil, s.Int32)
		} else {
			s.Skip()
		}
	}
	if err := s.Finish("E"); err == nil || err.Error() != "decode: E: map holds a name that "+why {
		t.Errorf("a name of a map: %v", err)
	}
	if s.Borrow(m); s.RecordValue(m).Raw() != nil || s.Finish("E") == nil || s.Failure().Error() != "decode: E: record value holds a value that "+why {
		t.Errorf("the whole value: %v", s.Failure())
	}
	mk := (&wire.Message{Value: []byte("{}")}).UnpackedKey(text, reasons)
	if s.Borrow(mk); s.RecordKey(mk).String() != "" || s.Finish("E") == nil || s.Failure().Error() != "decode: E: record key holds a value that "+why {
		t.Errorf("the whole key: %v", s.Failure())
	}
	s.Borrow(m)
	for s.Object(); s.Member(); {
		s.Skip()
	}
	if err := s.Finish("E"); err != nil {
		t.Errorf("nobody reads it: %v", err)
	}
	// The number of an enum that lacks its name is a number for whoever reads one.
	m = (&wire.Message{}).Unpacked([]byte(`7`), map[int]string{0: "is enum number 7"})
	if s.Borrow(m); string(s.RecordValue(m).Raw()) != "7" || s.Int32() != 7 || s.Finish("E") != nil {
		t.Errorf("a number: %v", s.Failure())
	}
}
