package strictjson

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

// Every kind is read as docs/encodings.md says, required and optional.
func TestScannerReadsEveryKind(t *testing.T) {
	id := wire.UUID{0x7d, 0x2a, 0x1f, 0x0e, 0x8b, 0x7a, 0x4c, 0x31, 0x9d, 0x52, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f}
	want := kinds{
		S: "aé😀\n", U: id, B: true, I: -12, L: 9007199254740993, F: -1500, D: wire.MustDecimal("12.50"),
		T: at("2024-02-29T22:29:59.123456Z"), ES: at("2023-11-14T22:13:20Z"), EM: at("2023-11-14T22:13:20.123Z"),
		EU: at("2023-11-14T22:13:20.123456Z"), EN: at("2023-11-14T22:13:20.123456Z"), LT: 1709251199500000, Day: 19782, Days: -1,
		X: []byte{0, 1, 0xff}, J: json.RawMessage(`{"k":[1,null,"\t"]}`), E: `gr"een`,
		Objs: []inner{{1}, {2}}, List: []string{"a", `b\`},
		O: optionalKinds{
			S: new("A"), U: &id, B: new(false), I: new(int32(1)), L: new(int64(2)), F: new(3.0), D: new(wire.MustDecimal("100")),
			T: new(at("1999-12-31T00:00:00Z")), ES: new(at("1973-03-03T09:46:40Z")), EM: new(at("1973-03-03T09:46:40Z")),
			EU: new(at("1973-03-03T09:46:40Z")), EN: new(at("1973-03-03T09:46:40Z")), LT: new(wire.LocalTime(-1)), Day: new(wire.Date(notation.FirstDay)),
			Days: new(wire.Date(0)), X: []byte{}, J: json.RawMessage(`"x"`), E: new("red"),
		},
	}
	var s Scanner
	for _, start := range []func(*wire.Message){s.Borrow, s.Reset} {
		var e kinds
		start(&wire.Message{Value: []byte(kindsJSON)})
		e.decode(&s)
		if err := s.Finish("Kinds"); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e, want) {
			t.Errorf("got\n%+v\nwant\n%+v", e, want)
		}
	}
}

// Null is nil for every optional kind.
func TestScannerReadsNull(t *testing.T) {
	in := `{"s":"","o":{`
	for i, name := range strings.Fields("s u b i l f d t es em eu en lt day days x j e") {
		in += strings.Repeat(",", min(i, 1)) + `"` + name + `": null `
	}
	e, err := decodeKinds(in + "}}")
	if err != nil || !reflect.DeepEqual(e.O, optionalKinds{}) {
		t.Errorf("got %+v, %v", e.O, err)
	}
}

// Whatever is cut off or overwritten, the decoder neither panics nor tells a value or a
// name that only the producer knows.
func TestScannerSurvivesDamage(t *testing.T) {
	secret := strings.NewReplacer(`"a\u00e9`, `"hunter2`, `"k":[1`, `"hunter2":["hunter2"`, `"unknown":{"`, `"hunter2":{"hunter2`, `"b\\"`, `"hunter2"`).Replace(kindsJSON)
	if strings.Count(secret, "hunter2") != 6 {
		t.Fatal("the document holds no secrets")
	}
	if _, err := decodeKinds(secret); err != nil {
		t.Fatal(err)
	}
	try := func(in string, mustFail bool) {
		_, err := decodeKinds(in)
		if err == nil && mustFail {
			t.Fatalf("accepted %s", in)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Fatalf("%s: told %v", in, err)
		}
	}
	whole := len(strings.TrimRight(secret, " "))
	for i := range secret {
		try(secret[:i], i < whole)
		for _, c := range "\x00\x7f\x80\xff \",:{}[]\\0-.eu" {
			try(secret[:i]+string(byte(c))+secret[min(i+1, len(secret)):], false)
			try(secret[:i]+string(byte(c))+secret[i:], false)
		}
	}
}

// Values of Reset stay as they are when the message and the scanner go on; Borrow's may not.
func TestResetOwns(t *testing.T) {
	m := &wire.Message{Value: []byte(kindsJSON), Key: []byte(`{"s":"key"}`), Headers: []wire.Header{{Name: "h", Value: []byte("text")}, {Name: "d", Value: []byte("1.5")}}}
	var s Scanner
	var e, again kinds
	s.Reset(m)
	e.decode(&s)
	header, number, key, raw := s.Header(m, "h").String(), s.Header(m, "d").Decimal(), s.RecordKey(m).String(), s.RecordValue(m).Raw()
	s.NextKey(m)
	again.decode(&s)
	if err := s.Finish("Kinds"); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprintf("%+v %s %s %s %s %s", e, *e.O.S, again.S, header, number, key) + string(raw)
	for _, b := range [][]byte{m.Value, m.Key, m.Headers[0].Value, m.Headers[1].Value} {
		for i := range b {
			b[i] = '#'
		}
	}
	s.Borrow(&wire.Message{Value: []byte(`{"s":"\u0042\u0042\u0042\u0042"}`)})
	var other kinds
	other.decode(&s)
	if after := fmt.Sprintf("%+v %s %s %s %s %s", e, *e.O.S, again.S, header, number, key) + string(raw); after != before {
		t.Errorf("was %s\nis  %s", before, after)
	}
}

// What Reset gave away is not used again by what the scanner does next.
func TestArenasAreGivenAway(t *testing.T) {
	read := func(s *Scanner) (kinds, error) {
		var e kinds
		e.decode(s)
		return e, s.Finish("Kinds")
	}
	var s Scanner
	for name, start := range map[string]func(*wire.Message){"Borrow": s.Borrow, "Reset": s.Reset} {
		s.Reset(&wire.Message{Value: []byte(`{"s":"\u0041\u0041","o":{"i":1}}`)})
		first, err := read(&s)
		if err != nil {
			t.Fatal(err)
		}
		start(&wire.Message{Value: []byte(`{"s":"\u0042\u0042","o":{"i":2}}`)})
		if _, err := read(&s); err != nil {
			t.Fatal(err)
		}
		if first.S != "AA" || *first.O.I != 1 {
			t.Errorf("%s changed an owned value: %q, %d", name, first.S, *first.O.I)
		}
	}
}

// Eight bytes at a time or one: every byte at every place of a string is read, or refused,
// as JSON in UTF-8 has it.
func TestEveryByteInAString(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			text := strings.Repeat("x", at) + string([]byte{byte(c)}) + strings.Repeat("x", 19-at)
			in := []byte(`{"s":"` + text + `"}`)
			var want struct{ S string }
			valid := json.Unmarshal(in, &want) == nil && utf8.ValidString(text)
			e, err := decodeKinds(string(in))
			if (err == nil) != valid || valid && e.S != want.S {
				t.Fatalf("byte %#x at %d: got %q, %v", c, at, e.S, err)
			}
		}
	}
}

// Size alone is no reason to refuse: limits.max_payload is checked before.
func TestScannerReadsLargeValues(t *testing.T) {
	long := strings.Repeat("x", 20<<20)
	e, err := decodeKinds(`{"s":"` + long + `\u0041","unknown":[` + strings.Repeat("0,", 1e6) + `0],"list":[` + strings.Repeat(`"",`, 1e6) + `""]}`)
	if err != nil || e.S != long+"A" || len(e.List) != 1e6+1 {
		t.Errorf("%d bytes, %d elements, %v", len(e.S), len(e.List), err)
	}
}

// A document may nest 64 levels, whatever was read before it.
func TestMaxDepth(t *testing.T) {
	for depth, ok := range map[int]bool{64: true, 65: false} {
		var s Scanner
		for _, start := range []func(*wire.Message){s.Borrow, s.Reset, s.Borrow} {
			start(&wire.Message{Value: []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))})
			s.Skip()
			if err := s.Finish(""); (err == nil) != ok {
				t.Errorf("depth %d: %v", depth, err)
			}
		}
	}
}

// A value can be read again, although what followed it at first had a flaw.
func TestSeek(t *testing.T) {
	var s Scanner
	s.Borrow(&wire.Message{Value: []byte(`{"a":{"b":"x","c":"\u0000"},"d":1}`)})
	var b string
	var whole int
	for s.Object(); s.Member(); {
		if s.Name() != "a" {
			s.Skip()
			continue
		}
		from := s.Pos()
		s.Skip()
		whole = s.Pos() - from
		s.Seek(from)
		for s.Object(); s.Member(); {
			if s.Name() == "b" {
				b = s.String()
			} else {
				s.Skip()
			}
		}
	}
	if err := s.Finish(""); err != nil || b != "x" || whole != 22 {
		t.Errorf("got %q, %d bytes, %v", b, whole, err)
	}
	s.Borrow(&wire.Message{Value: []byte(`[1,x]`)})
	from := s.Pos()
	s.Skip()
	s.Seek(from) // must not bring the document back
	if s.Array(); s.Element() || s.Finish("") == nil {
		t.Error("an error did not stick")
	}
}
