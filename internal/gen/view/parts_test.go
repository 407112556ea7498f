package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Whichever part of a record the spec calls sensitive, only that part is hidden, and the payload
// is not given out as it is. Without such a part nothing is hidden.
func TestEachSensitivePartIsHidden(t *testing.T) {
	const spec = `version: 1
consumer: c
package: p
topics:
  t.v1:
    record_key: {id: string}
    idempotency_key: {source: {header: key}, window: 8d}
    events:
      Seen:
        fields:
          mail: {type: string%s}
          token: {type: string, header: X-Token%s}
          copy: {type: string, record: key%s}
          all: {type: bytes, record: value%s}
        handle: true
`
	const sensitive = ", sensitive: true"
	for i, part := range []string{"mail", "token", "key", "payload", ""} {
		marks := []any{"", "", "", ""}
		if part != "" {
			marks[i] = sensitive
		}
		m := wire.Message{
			Key: []byte("in-key"), Value: []byte(`{"mail": "in-mail", "other": "in-other"}`),
			Headers: []wire.Header{{Name: "X-Token", Value: []byte("in-token")}, {Name: "key", Value: []byte("in-header")}},
		}
		shown := read(t, fmt.Sprintf(spec, marks...)).Show("t.v1", "Seen", &m)
		all := fmt.Sprint(shown.Key, shown.Payload, shown.Headers)
		hidden := map[string]string{"mail": "in-mail", "token": "in-token", "key": "in-key", "payload": "in-mail in-other"}[part]
		for _, text := range []string{"in-key", "in-mail", "in-other", "in-token", "in-header"} {
			if is := !strings.Contains(all, text); is != strings.Contains(hidden, text) {
				t.Errorf("sensitive %q: %s is hidden: %v\n%+v", part, text, is, shown)
			}
		}
		if shown.Raw != (part == "") || shown.Masked != (part != "") {
			t.Errorf("sensitive %q: raw %v, masked %v", part, shown.Raw, shown.Masked)
		}
	}
}

// A text that is no JSON is hidden only if it may hold a member: that takes a brace and a quote.
func TestTextsThatHoldNoMemberAreShown(t *testing.T) {
	s := read(t, people)
	for text, shown := range map[string]bool{
		`{other`: true, `"other`: true, `other`: true, `{"other": `: false, `["other", {`: false, `["other"`: true, `{"other": 1}`: true,
	} {
		m := wire.Message{Value: []byte(`{}`), Headers: []wire.Header{{Name: "note", Value: []byte(text)}}}
		if is := s.Show("people.v1", "Joined", &m).Headers[0].Value; strings.Contains(is, "other") != shown {
			t.Errorf("%s is shown as %s", text, is)
		}
	}
}
