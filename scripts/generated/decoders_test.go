package generated_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve"
	"github.com/idemgen/idemgen/internal/gen/syntax"
	"github.com/idemgen/idemgen/internal/proof/oracle"
	"github.com/idemgen/idemgen/internal/proof/seedlog"
	"github.com/idemgen/idemgen/runtime/idem"
	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/testdata/golden/behaviour/decoders"
)

func decodersSpec(t testing.TB) *model.Service {
	t.Helper()
	return resolved(t, "../../testdata/golden/behaviour/decoders/idemgen.yaml")
}

// resolved reads the spec at a path.
func resolved(t testing.TB, path string) *model.Service {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := syntax.Load("idemgen.yaml", text)
	s, bad := resolve.Resolve(spec)
	if s == nil {
		t.Fatal(bad)
	}
	return s
}

// FuzzDecoders: a generated decoder takes what the oracle's slow one takes, refuses what that
// refuses, at the same place, and every field holds the same.
func FuzzDecoders(f *testing.F) {
	s := decodersSpec(f)
	var events []*model.Event
	for _, topic := range s.Topics {
		events = append(events, topic.Events...)
		_, log := seedlog.Log(s, topic, nil)
		for _, r := range log {
			i := slices.IndexFunc(events, func(e *model.Event) bool { return e.GoName == r.Event })
			f.Add(uint8(i), r.Key, r.Value, uint8(0), []byte(nil))
			for n, h := range r.Headers {
				f.Add(uint8(i), r.Key, r.Value, uint8(n), h.Value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, key, value []byte, header uint8, text []byte) {
		e := events[int(which)%len(events)]
		agree(t, oracle.New(s), e, oracle.Record{Topic: e.Topic.Name, Key: key, Value: value, Headers: headers(e, header, text)})
	})
}

// headers are those by which the record is known, and one of those that the event has fields from.
func headers(e *model.Event, header uint8, text []byte) []oracle.Header {
	out := []oracle.Header{{Name: "id", Value: []byte("1")}, {Name: "id-2", Value: []byte("00000000-0000-4000-8000-000000000001")}}
	if len(e.Types) > 0 {
		out = append(out, oracle.Header{Name: "type", Value: []byte(e.Types[0])})
	}
	var names []string
	for _, f := range e.Fields {
		if f.Source.Kind == model.FromHeader && f.Source.Header != "id" {
			names = append(names, f.Source.Header)
		}
	}
	if len(names) > 0 && text != nil {
		name := names[int(header)%len(names)]
		out = slices.DeleteFunc(out, func(h oracle.Header) bool { return h.Name == name })
		out = append(out, oracle.Header{Name: name, Value: text})
	}
	return out
}

func agree(t *testing.T, in *oracle.Interpreter, e *model.Event, r oracle.Record) {
	want, out := in.Decode(r)
	if r.Value == nil || out.Class == oracle.ClassTooLarge || out.Class == oracle.ClassKey {
		return // decided before the decoder
	}
	got, err := decoders.Decode[e.GoName](toMessage(r))
	said, expected := "", ""
	if out.Class == oracle.ClassDecode {
		expected = out.DeadLetter()
	}
	if bad := (*wire.DecodeError)(nil); errors.As(err, &bad) {
		said = strings.TrimSpace("decode " + bad.Path)
		if bad.Path == "" {
			said = "decode the payload"
		}
	} else if err != nil {
		t.Fatalf("%s: %v is no decode error", e.Name, err)
	}
	if said != expected {
		t.Fatalf("%s %q, key %q, headers %v\nthe oracle: %q (%s)\ngenerated:  %q (%v)", e.Name, r.Value, r.Key, r.Headers, expected, out.Detail, said, err)
	}
	if err != nil || out.Kind != oracle.Applied {
		return
	}
	for _, f := range e.Fields {
		have := content(f.Type, f.Patch, reflect.ValueOf(got).FieldByName(f.GoName))
		if have != want.Content(f.Name) {
			t.Errorf("%s.%s of %q\nthe oracle: %s\ngenerated:  %s", e.Name, f.Name, r.Value, want.Content(f.Name), have)
		}
	}
}

func toMessage(r oracle.Record) idem.Message {
	m := idem.Message{Topic: r.Topic, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, wire.Header{Name: h.Name, Value: h.Value})
	}
	return m
}

// content writes a Go value as [oracle.Values.Content] does.
func content(t model.FieldType, patch bool, v reflect.Value) string {
	if patch {
		switch wire.PatchState(v.FieldByName("State").Uint()) {
		case wire.PatchAbsent:
			return "0:"
		case wire.PatchNull:
			return "null0:"
		}
		v = v.FieldByName("Value")
	} else if t.Optional && v.IsNil() {
		return "null0:"
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	tag, text := "", ""
	switch x := v.Interface().(type) {
	case idem.UUID:
		tag, text = "uuid", x.String()
	case idem.Decimal:
		tag, text = "decimal", shortest(x.String())
	case idem.Date:
		tag, text = "day", strconv.Itoa(int(x))
	case idem.LocalTime:
		tag, text = "wall", strconv.FormatInt(int64(x), 10)
	case time.Time:
		tag, text = "instant", strconv.FormatInt(x.UnixMicro(), 10)
	case json.RawMessage:
		var b bytes.Buffer
		_ = json.Compact(&b, x) // what does not compact differs
		tag, text = "json", b.String()
	case []byte:
		tag, text = "bytes", string(x)
	default:
		tag, text = nested(t, v)
	}
	return tag + strconv.Itoa(len(text)) + ":" + text
}

func nested(t model.FieldType, v reflect.Value) (tag, text string) {
	var b strings.Builder
	switch v.Kind() {
	case reflect.String:
		return "text", v.String()
	case reflect.Bool:
		return "bool", strconv.FormatBool(v.Bool())
	case reflect.Int32, reflect.Int64:
		return "int", strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return "float", strconv.FormatFloat(v.Float()+0, 'g', -1, 64)
	case reflect.Slice:
		for i := range v.Len() {
			b.WriteString(content(*t.Elem, false, v.Index(i)))
		}
		return "list", b.String()
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			b.WriteString(content(model.FieldType{}, false, name) + content(*t.Elem, false, v.MapIndex(name)))
		}
		return "map", b.String()
	case reflect.Struct:
		for _, f := range t.Named.Fields {
			b.WriteString(content(f.Type, f.Patch, v.FieldByName(f.GoName)))
		}
		return "object", b.String()
	}
	return fmt.Sprint("unknown ", v.Type()), ""
}

// shortest is a decimal without zeros that mean nothing.
func shortest(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
