package strictjson

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// opened writes what Open makes of a record: its value and headers, or the error.
func opened(value string, headers ...string) string {
	m := &wire.Message{Value: []byte(value)}
	for _, h := range headers {
		name, text, _ := strings.Cut(h, "=")
		m.Headers = append(m.Headers, wire.Header{Name: name, Value: []byte(text)})
	}
	var c CloudEvents
	e, err := c.Open(m)
	if err != nil {
		return err.Error()
	}
	out := string(e.Value)
	for _, h := range e.Headers {
		out += " " + h.Name + "=" + string(h.Value)
	}
	return out
}

const (
	jsonEvent = "content-type=application/cloudevents+json"
	head      = `"specversion":"1.0","id":"1","source":"/s","type":"t"`
	headers   = " ce_specversion=1.0 ce_id=1 ce_source=/s ce_type=t"
)

// An event of structured mode is the one of binary mode with the same attributes and data.
func TestCloudEventsOfBothModesAreOne(t *testing.T) {
	for _, c := range []struct {
		value   string
		headers []string
		want    string
	}{
		{`{"a":1}`, []string{"ce_specversion=1.0", "ce_id=1", "ce_source=/s", "ce_type=t"}, `{"a":1}` + headers},
		{`x`, []string{"content-type=text/plain", "ce_specversion=1.0", "ce_id=1", "ce_source=/s", "ce_type=t", "h=1"}, `x content-type=text/plain` + headers + " h=1"},
		{`{` + head + `,"data":{"a": [1]} }`, []string{jsonEvent}, `{"a": [1]}` + headers},
		{`{` + head + `,"data":"x"}`, []string{"content-type=Application/CloudEvents+JSON; charset=UTF-8", "h=1", "ce_id=other"}, `"x" h=1` + headers},
		{`{` + head + `}`, []string{"content-type=application/cloudevents"}, headers},
		{`{` + head + `,"data":null,"subject":null,"n":7,"b":true,"datacontenttype":"text/json"}`, []string{jsonEvent}, `null` + headers + " ce_n=7 ce_b=true content-type=text/json"},
		{`{` + head + `,"data_base64":"eyJhIjoxfQ=="}`, []string{jsonEvent}, `{"a":1}` + headers},
		{`{"specversion":"1.0","id":"\u0031\u0020","source":"/\ud83d\ude00","type":"t"}`, []string{jsonEvent}, " ce_specversion=1.0 ce_id=1  ce_source=/😀 ce_type=t"},
	} {
		if got := opened(c.value, c.headers...); got != c.want {
			t.Errorf("%s %q\n got %s\nwant %s", c.value, c.headers, got, c.want)
		}
	}
}

// What is no CloudEvent is refused, in the same words in both modes, and no name of the producer's
// is told.
func TestCloudEventsRefuses(t *testing.T) {
	binary := func(with ...string) []string {
		return append([]string{"ce_specversion=1.0", "ce_id=1", "ce_source=/s"}, with...)
	}
	for _, c := range []struct {
		value   string
		headers []string
		want    string
	}{
		{`{}`, binary(), "header ce_type is missing"},
		{`{}`, binary("ce_type="), "header ce_type is empty"},
		{`{}`, binary("ce_type=t", "ce_type=t"), "header ce_type occurs 2 times"},
		{`{}`, []string{"ce_specversion=0.3", "ce_id=1", "ce_source=/s", "ce_type=t"}, "header ce_specversion must be 1.0"},
		{`{}`, nil, "header ce_specversion is missing"},
		{`{"specversion":"1.0","id":"","source":"/s","type":"t"}`, []string{jsonEvent}, "header ce_id is empty"},
		{`{"specversion":"1.0","id":null,"source":"/s","type":"t"}`, []string{jsonEvent}, "header ce_id is missing"},
		{`{` + head + `,"id":"1"}`, []string{jsonEvent}, "header ce_id occurs 2 times"},
		{`{"specversion":1.0,"id":"1","source":"/s","type":"t"}`, []string{jsonEvent}, ""},
		{`{"specversion":"0.3","id":"1","source":"/s","type":"t"}`, []string{jsonEvent}, "header ce_specversion must be 1.0"},
		{`{` + head + `}`, []string{jsonEvent, jsonEvent}, "header content-type occurs 2 times"},
		{`[]`, []string{"content-type=application/cloudevents-batch+json"}, "header content-type says that the record holds several events: each needs a record of its own"},
		{`x`, []string{"content-type=application/cloudevents+avro"}, "header content-type names a format of CloudEvents other than JSON"},
		{``, []string{jsonEvent}, "the payload is empty"},
		{`[]`, []string{jsonEvent}, "the payload must be an object"},
		{`{` + head, []string{jsonEvent}, "the payload ends too early (at byte 54)"},
		{`{` + head + `,"data":{"secret":}}`, []string{jsonEvent}, "the payload is not valid JSON (at byte 72)"},
		{`{` + head + `}x`, []string{jsonEvent}, "the payload has data after its end (at byte 55)"},
		{`{` + head + `,"secret":{}}`, []string{jsonEvent}, "the payload has an attribute that is no text, number, true or false (at byte 64)"},
		{`{` + head + `,"data":1,"data":2}`, []string{jsonEvent}, "the payload occurs twice (at byte 71)"},
		{`{` + head + `,"data":1,"data_base64":""}`, []string{jsonEvent}, "the payload has both data and data_base64 (at byte 81)"},
		{`{` + head + `,"data_base64":"x"}`, []string{jsonEvent}, "the payload must hold base64 with padding as data_base64 (at byte 69)"},
		{`{` + head + `,"data_base64":7}`, []string{jsonEvent}, "the payload must hold base64 in a string as data_base64 (at byte 69)"},
	} {
		want := ""
		if c.want != "" {
			want = "decode: " + c.want
		}
		if got := opened(c.value, c.headers...); got != want && want != "" || want == "" && strings.HasPrefix(got, "decode") {
			t.Errorf("%s %q\n got %s\nwant %s", c.value, c.headers, got, want)
		}
	}
	var c CloudEvents
	deep := `{` + head + `,"data":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`
	if got := opened(deep, jsonEvent); strings.HasPrefix(got, "decode") {
		t.Errorf("data as deep as in binary mode: %s", got)
	}
	if got := opened(strings.Replace(deep, "[]", "[[]]", 1), jsonEvent); !strings.Contains(got, "nested too deeply") {
		t.Errorf("deeper data: %.80s", got)
	}
	if m := (&wire.Message{}); true {
		if e, err := c.Open(m); e != m || err != nil {
			t.Errorf("a record without a value: %v %v", e, err)
		}
	}
}

// What was opened stays valid when the next record is: handlers get it later.
func TestOpenedEventsStayValid(t *testing.T) {
	var c CloudEvents
	first := &wire.Message{Value: []byte(`{"specversion":"1.0","id":"\u0031","source":"/s","type":"t","data":1}`), Headers: []wire.Header{{Name: "content-type", Value: []byte("application/cloudevents+json")}}}
	a, err := c.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	second := *first
	second.Value = []byte(`{"specversion":"1.0","id":"\u0032","source":"/s","type":"t","data":2}`)
	if _, err := c.Open(&second); err != nil {
		t.Fatal(err)
	}
	if id, _ := a.Header("ce_id"); string(id) != "1" || string(a.Value) != "1" {
		t.Errorf("id %s, data %s", id, a.Value)
	}
	if again, err := c.Open(a); again != a || err != nil {
		t.Errorf("an event that is open already: %v %v", again, err)
	}
}
