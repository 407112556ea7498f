package survey

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// at makes a record, so many minutes after the first one; "-" is no key.
func at(minute int, partition int32, key, value string, headers ...string) Record {
	r := Record{Partition: partition, Time: time.Unix(int64(1_800_000_000+60*minute), 0), Value: []byte(value)}
	if key != "-" {
		r.Key = []byte(key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Headers = append(r.Headers, Header{headers[i], []byte(headers[i+1])})
	}
	return r
}

func reportOf(records ...Record) *Report {
	s := New("t", 2)
	for _, r := range records {
		s.Add(r)
	}
	return s.Report()
}

// A field has the type that reads all of its values, and is optional if a record lacks it.
func TestTypesOfFields(t *testing.T) {
	for values, want := range map[string]string{
		`"0b5a4e2e-0000-4000-8000-00000000000A"`:               "uuid",
		`"2026-01-01T00:00:00Z" "2026-01-01T00:00:00.5+02:00"`: "timestamp",
		`"2026-01-01T00:00:00"`:                                "local_timestamp",
		`"2026-01-01T00:00:00+0000" "2026-01-01T12:00Z"`:       "timestamp",
		`"2026-01-01T00:00:00,5Z"`:                             "string",
		`"2026-01-01T12:00"`:                                   "local_timestamp",
		`"2026-01-31"`:                                         "date",
		`"2026-01-31" "2026-02-31"`:                            "string",
		`"12.50" "-3.1"`:                                       "decimal",
		`"12.50" "7"`:                                          "decimal",
		`"12.50" 7`:                                            "decimal",
		`"12"`:                                                 "string",
		`"12" 12`:                                              "int64",
		`"012" 12`:                                             "json",
		`""`:                                                   "string",
		`"a" "0b5a4e2e-0000-4000-8000-000000000001"`: "string",
		`1 -5 9223372036854775807`:                   "int64",
		`9223372036854775808`:                        "decimal",
		`1 1.5`:                                      "float64",
		`1e2`:                                        "float64",
		`1e999`:                                      "json",
		`1e-999`:                                     "json",
		`true false`:                                 "bool",
		`true "a"`:                                   "json",
		`{"a":1}`:                                    "json",
		`["a"] [] ["b","c"]`:                         "list(string)",
		`[1]`:                                        "list(int64)",
		`[1,"a"]`:                                    "json",
		`[null]`:                                     "json",
		`[[1]]`:                                      "json",
		`[{}]`:                                       "json",
		`[]`:                                         "json",
		`["a"] "a"`:                                  "json",
		`1 null`:                                     "optional int64",
		`1 absent`:                                   "optional int64",
		`null`:                                       "",
	} {
		var records []Record
		for _, v := range strings.Fields(values) {
			value := `{"f":` + v + `}`
			if v == "absent" {
				value = `{}`
			}
			records = append(records, at(0, 0, "-", value))
		}
		is := ""
		for _, f := range reportOf(records...).Events[0].Fields {
			if is = f.Type; f.Optional {
				is = "optional " + is
			}
		}
		if is != want {
			t.Errorf("%s: %q, want %q", values, is, want)
		}
	}
}

// Each value has the form that says what can be done with it; only those of the most frequent
// form count as events.
func TestFormsOfValues(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for value, want := range map[string]Form{
		`{"a":1}`:                       JSONObject,
		" {\"a\":\"}\\\"\"}\n":          JSONObject,
		deep(63):                        JSONObject,
		deep(64):                        TooDeep,
		deep(200_000):                   Invalid, // more than the decoder of Go takes
		"\x00\x00\x00\x00\x07{\"a\":1}": JSONFramed,
		"\x00\x00\x00\x00\x07\x10abc":   Framed,
		"\x00\x00\x00\x00\x07":          Binary,
		"\x02\x10abc\xff":               Binary,
		`"{\"a\":1}"`:                   JSONText,
		`"a"`:                           OtherJSON,
		`[1]`:                           OtherJSON,
		`{"a":1`:                        Invalid,
		`{"a":1,"a":2}`:                 Invalid,
		``:                              Invalid,
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`: TooLarge,
	} {
		if is := reportOf(at(0, 0, "-", value)).Form().Form; is != want {
			t.Errorf("%.30q: %s, want %s", value, is, want)
		}
	}
	gone := at(1, 0, "-", "")
	gone.Value = nil
	r := reportOf(at(0, 0, "-", `{"a":1}`), at(0, 0, "-", `{"b":`), gone, gone, at(0, 0, "-", `{"a":1}`))
	if r.Records != 5 || r.Tombstones() != 2 || r.Usable() != 2 || r.Form().Form != JSONObject || len(r.Events[0].Fields) != 1 || r.Events[0].Fields[0].Optional {
		t.Errorf("%+v", r)
	}
}

// The event type is a header or a member that every record has, with few different values that
// look like names.
func TestTypesOfEvents(t *testing.T) {
	told := func(r *Report) string {
		is := "none"
		if r.EventType != nil {
			is = r.EventType.Header + "|" + r.EventType.Member
		}
		for _, e := range r.Events {
			is += fmt.Sprintf(" %s=%d", e.Type, e.Records)
		}
		return is
	}
	var ids []Record
	for n := range 30 {
		ids = append(ids, at(n, 0, "-", fmt.Sprintf(`{"type":"t%d"}`, n)))
	}
	for want, records := range map[string][]Record{
		"event-type| a=2 b=1": {at(0, 0, "-", `{"type":"x"}`, "event-type", "a"), at(0, 0, "-", `{"type":"y"}`, "event-type", "b"), at(0, 0, "-", `{}`, "event-type", "a")},
		"|type x=1 y=1":       {at(0, 0, "-", `{"type":"x"}`, "event-type", "a"), at(0, 0, "-", `{"type":"y"}`)},
		"none =2":             {at(0, 0, "-", `{"type":"x"}`), at(0, 0, "-", `{"type":"x"}`)},
		"none =3":             {at(0, 0, "-", `{"type":"x"}`), at(0, 0, "-", `{"type":"y"}`), at(0, 0, "-", `{}`)},
		"none =4":             {at(0, 0, "-", `{"type":"some text"}`), at(0, 0, "-", `{"type":"other text"}`), at(0, 0, "-", `{"type":1}`), at(0, 0, "-", `{"type":2}`)},
		"none =2 ":            {at(0, 0, "-", `{}`, "type", "a", "type", "b"), at(0, 0, "-", `{}`, "type", "b", "type", "a")},
		"none =30":            ids,
	} {
		if is := told(reportOf(records...)); is != strings.TrimSpace(want) {
			t.Errorf("%s, want %s", is, want)
		}
	}
}

// What repeats is counted by content and partition, and how far apart it was.
func TestRepeatsOfACandidate(t *testing.T) {
	var records []Record
	for n := range 100 {
		records = append(records, at(n, 0, "-", fmt.Sprintf(`{"n":%d,"at":["2026-01-01"]}`, n), "event-id", fmt.Sprint("e", n)))
	}
	records = append(records,
		at(200, 1, "-", ` {"at": [ "2026-01-01" ], "n": 7} `, "event-id", "e7"), // the same, written in another way
		at(90, 0, "-", `{"n":8,"at":["2026-01-01"]}`, "event-id", "e8"),
		at(300, 0, "-", `{"n":8,"at":["2026-01-02"]}`, "event-id", "e8"))
	slices.Reverse(records) // the order in which they are read does not matter
	e := reportOf(records...).Events[0]
	want := Candidate{Header: "event-id", Type: "string", Records: 103, Distinct: 100, Same: 2, Other: 1, Elsewhere: 1, Apart: 292 * time.Minute}
	if e.Key == nil || *e.Key != want {
		t.Errorf("%+v, want %+v", e.Key, want)
	}
	if len(e.Candidates) != 1+1 || e.Candidates[1].Member != "n" || e.Candidates[1].rank() >= 0 {
		t.Errorf("%d candidates: %+v", len(e.Candidates), e.Candidates)
	}
}

// A key is in every record of its event, is named like one, and repeats with other content hardly
// ever. Of two the header is the key, and all events have the same one if they can.
func TestKeysOfEvents(t *testing.T) {
	const one, two = "0b5a4e2e-0000-4000-8000-000000000001", "0b5a4e2e-0000-4000-8000-000000000002"
	for name, c := range map[string]struct {
		want    string
		records []Record
	}{
		"the header before the member":    {"message-id", []Record{at(0, 0, "-", `{"event_id":"x"}`, "message-id", "a"), at(0, 0, "-", `{"event_id":"y"}`, "message-id", "b")}},
		"a header that one lacks":         {"event_id", []Record{at(0, 0, "-", `{"event_id":"x"}`, "message-id", "a"), at(0, 0, "-", `{"event_id":"y"}`)}},
		"an empty header":                 {"", []Record{at(0, 0, "-", `{}`, "message-id", "a"), at(0, 0, "-", `{}`, "message-id", "")}},
		"a header twice":                  {"", []Record{at(0, 0, "-", `{}`, "message-id", "a", "message-id", "b")}},
		"an id of an entity":              {"", []Record{at(0, 0, "-", `{"account_id":"a","n":1}`), at(0, 0, "-", `{"account_id":"a","n":2}`), at(0, 0, "-", `{"account_id":"b","n":3}`)}},
		"an id of the event before it":    {"eventId", []Record{at(0, 0, "-", `{"accountId":"a","eventId":"x"}`), at(0, 0, "-", `{"accountId":"b","eventId":"y"}`)}},
		"an id of the sending":            {"", []Record{at(0, 0, "-", `{}`, "traceparent", "a", "x-correlation-id", "b"), at(0, 0, "-", `{}`, "traceparent", "c", "x-correlation-id", "d")}},
		"a text, a time, an amount":       {"", []Record{at(0, 0, "-", `{"title":"a","made_no":"2026-01-01","price_ref":"1.5"}`), at(0, 0, "-", `{"title":"b","made_no":"2026-01-02","price_ref":"2.5"}`)}},
		"a UUID whatever its name":        {"made", []Record{at(0, 0, "-", `{"made":"`+one+`"}`), at(0, 0, "-", `{"made":"`+two+`"}`)}},
		"an optional member":              {"", []Record{at(0, 0, "-", `{"id":"a"}`), at(0, 0, "-", `{"id":null}`)}},
		"a resend that differs":           {"event_id", []Record{at(0, 0, "-", `{"event_id":"a","sent":1}`), at(0, 0, "-", `{"event_id":"b","sent":2}`), at(0, 0, "-", `{"event_id":"c","sent":3}`), at(0, 0, "-", `{"event_id":"d","sent":4}`), at(0, 0, "-", `{"event_id":"a","sent":5}`)}},
		"one that all events have":        {"id id", []Record{at(0, 0, "-", `{"type":"a","id":"x","event_id":"q"}`), at(0, 0, "-", `{"type":"b","id":"y"}`)}},
		"each its own, and one with none": {"a_id b_id ", []Record{at(0, 0, "-", `{"type":"a","a_id":"x"}`), at(0, 0, "-", `{"type":"b","b_id":"y"}`), at(0, 0, "-", `{"type":"c"}`)}},
	} {
		var is []string
		for _, e := range reportOf(c.records...).Events {
			key := ""
			if e.Key != nil {
				key = e.Key.Header + e.Key.Member
			}
			is = append(is, key)
		}
		if strings.Join(is, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, is, c.want)
		}
	}
}

// The record key is compared with the members, and its records with their partitions.
func TestRecordKeys(t *testing.T) {
	for want, records := range map[string][]Record{
		"2 uuid=id 1 0":   {at(0, 0, "0B5A4E2E-0000-4000-8000-000000000001", `{"id":"0b5a4e2e-0000-4000-8000-000000000001"}`), at(0, 0, "0b5a4e2e-0000-4000-8000-000000000001", `{"other":1}`)},
		"3 string= 2 1":   {at(0, 0, "a", `{"id":"a"}`), at(0, 1, "a", `{"id":"a"}`), at(0, 1, "b", `{"id":"c"}`)},
		"2 int64=n 2 0":   {at(0, 0, "7", `{"n":7}`), at(0, 1, "8", `{"n":8}`)},
		"1 bytes= 1 0":    {at(0, 0, "\xff", `{}`)},
		"0 = 0 0":         {at(0, 0, "-", `{"id":"a"}`)},
		"1 string=id 1 0": {at(0, 0, "a", `{"id":"a"}`), at(0, 0, "-", `{"other":"a"}`)},
	} {
		k := reportOf(records...).RecordKey
		if is := fmt.Sprintf("%d %s=%s %d %d", k.Records, k.Type, k.Equals, k.Distinct, k.Spread); is != want {
			t.Errorf("%s, want %s", is, want)
		}
	}
	if r := reportOf(at(5, 0, "-", `{}`), at(3, 1, "-", `{}`), at(4, 0, "-", `{}`), at(6, 0, "-", `{}`)); r.Backwards != 1 || r.Newest.Sub(r.Oldest) != 3*time.Minute {
		t.Errorf("%+v", r)
	}
}

// Names that are data are not told: neither many names, nor those that no spec can write.
func TestNamesThatAreData(t *testing.T) {
	var records []Record
	for n := range 200 {
		records = append(records, at(n, 0, "-", fmt.Sprintf(`{"customer%d":1,"a\u0000b":2,"\u00e4":3}`, n)))
	}
	r := reportOf(records[0], at(0, 0, "1", `{"z":1}`))
	if r.RecordKey.Equals != "z" {
		t.Errorf("%+v", r.RecordKey)
	}
	records[0].Key = []byte("1")
	r = reportOf(records...)
	if e := r.Events[0]; r.RecordKey.Equals != "" || !e.Open || len(e.Fields)+len(e.Candidates)+len(e.Null) > 0 {
		t.Errorf("%+v %+v", r.RecordKey, e)
	}
	if e := reportOf(records[0]).Events[0]; e.Open || len(e.Fields) != 1 {
		t.Errorf("%+v", e)
	}
}

// Record keys are read as they are written, and so equal members of the value.
func TestKeysInEncodings(t *testing.T) {
	for form, keys := range map[KeyForm][2]string{
		TextKey: {"7", "8"}, QuotedKey: {`"7"`, `"8"`}, LongKey: {"\x00\x00\x00\x00\x00\x00\x00\x07", "\x00\x00\x00\x00\x00\x00\x00\x08"},
		OtherKey: {"\x00\x00\x00\x00\x01\x0e", "\x00\x00\x00\x00\x01\x10"},
	} {
		r := reportOf(at(0, 0, keys[0], `{"id":7}`), at(1, 0, keys[1], `{"id":8}`)).RecordKey
		want := RecordKey{Records: 2, Type: "int64", Form: form, Equals: "id", Distinct: 2}
		if form == OtherKey {
			want.Type, want.Equals = "bytes", ""
		}
		if r != want {
			t.Errorf("%s: %+v, want %+v", form, r, want)
		}
	}
	if r := reportOf(at(0, 0, "7", `{}`), at(1, 0, `"8"`, `{}`)).RecordKey; r.Form != OtherKey {
		t.Errorf("keys of two forms: %+v", r)
	}
}

// A sample keeps no value and no key: 50 of 1 MiB leave less than 4.
func TestASampleKeepsNoValue(t *testing.T) {
	s := New("t", 1)
	large := []byte(`{"id":"a","text":"` + strings.Repeat("x", 1<<20-100) + `","list":[` + strings.Repeat("1,", 10) + `1]}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 50 {
		s.Add(Record{Value: slices.Clone(large), Key: slices.Clone(large)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
		t.Errorf("50 records keep %d bytes", kept)
	}
	if r := s.Report(); r.Usable() != 50 || r.Events[0].Fields[1].Type != "string" || r.Largest != len(large) {
		t.Errorf("%+v", r)
	}
}

// Of an object with very many members the first ones are read.
func TestMembersOfAnObject(t *testing.T) {
	for _, n := range []int{0, 1, mostMembers, mostMembers + 1} {
		var text []string
		for i := range n {
			text = append(text, fmt.Sprintf(`"m%d": [%d]`, i, i))
		}
		members, more := membersOf([]byte("{" + strings.Join(text, ", ") + "}"))
		if len(members) != min(n, mostMembers) || more != (n > mostMembers) {
			t.Errorf("of %d members: %d, more: %v", n, len(members), more)
		}
		for i, m := range members {
			if m.name != fmt.Sprintf("m%d", i) || string(m.raw) != fmt.Sprintf("[%d]", i) {
				t.Errorf("member %d: %s %s", i, m.name, m.raw)
			}
		}
	}
}
