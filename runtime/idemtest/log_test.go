package idemtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var logEvents = map[string]Event{"Put": {Keyed: true, Here: true, Loose: []string{"note"}}, "Gone": {}}

func logFile(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idem_t_log.jsonl")
	if err := os.WriteFile(path, []byte(`{"comment":"made"}`+"\n"+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A record is what its line says: payloads byte by byte, headers in their order, and what all
// records of its event have in common.
func TestReadLog(t *testing.T) {
	log, err := readLog(logFile(t, `{"event":"Put","dead_letter":"decode items[1].price","key":"k\u00e9","headers":{"b":"1","a":"2"},"value":{"v": 1.50,"s":"\u00e9<"}}
{"event":"Put","by_offset":true,"key":"","value":null}
{"event":"Gone","text":"two\nlines"}
{"event":"Gone"}
`), logEvents)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, e := range log {
		m := e.Message
		fmt.Fprintf(&got, "%v %v %v %q %v", e.Keyed, e.Here, e.Loose, m.Key, m.Key == nil)
		for _, h := range m.Headers {
			fmt.Fprintf(&got, " %s=%s", h.Name, h.Value)
		}
		fmt.Fprintf(&got, " %q %v\n", m.Value, m.Value == nil)
	}
	want := `true true [note] "ké" false b=1 a=2 "{\"v\": 1.50,\"s\":\"\\u00e9<\"}" false
false false [note] "" false "null" false
false false [] "" true "two\nlines" false
false false [] "" true "" true
`
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
	dead := expectedDeadLetters(log)
	if len(dead) != 1 || dead[0] != (expectedDead{class: "decode", path: "items[1].price"}) {
		t.Errorf("dead letters %+v", dead)
	}
}

// An error names the line and what is wrong with it.
func TestReadLogSaysWhatIsWrong(t *testing.T) {
	const first = `{"event":"Gone"}` + "\n"
	for line, want := range map[string]string{
		`{"event":"Put"`:                       "_log.jsonl:3: unexpected EOF",
		`{"event":"Lost"}`:                     `_log.jsonl:3: unknown event "Lost"`,
		`{"event":"Put","keys":"k"}`:           `_log.jsonl:3: json: unknown field "keys"`,
		`{"event":"Put","value":1,"text":"1"}`: "_log.jsonl:3: a record has a value or a text, not both",
		`{"event":"Put","headers":["a"]}`:      "_log.jsonl:3: headers must be an object",
		`{"event":"Put","headers":{"a":1}}`:    "_log.jsonl:3: header a must be a text",
		`{"event":"Put"} {"event":"Put"}`:      "_log.jsonl:3: more than one record on a line",
		"":                                     "",
	} {
		_, err := readLog(logFile(t, first+line), logEvents)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, err := readLog(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a missing file is no error")
	}
}
