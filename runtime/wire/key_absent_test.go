package wire

import "testing"

// Under missing: offset only a header that is not there leaves an event without a key; one
// that is there and wrong is still an error, and a sent one makes the same key as ever.
func TestHeaderOrOffset(t *testing.T) {
	one := []byte("1")
	for name, c := range map[string]struct {
		headers []Header
		err     string
		absent  bool
	}{
		"there":   {headers: []Header{{"h", one}}},
		"missing": {headers: []Header{{"H", one}}, absent: true},
		"empty":   {headers: []Header{{"h", []byte{}}}, err: "key: E: header h is empty, but part of the key"},
		"null":    {headers: []Header{{"h", nil}}, err: "key: E: header h must not be null"},
		"twice":   {headers: []Header{{"h", one}, {"h", one}}, err: "key: E: header h occurs 2 times"},
	} {
		m := &Message{Headers: c.headers}
		var k KeyBuilder
		k.Start(space)
		k.HeaderOrOffset(m, "h")
		k.Int32("n", 1)
		key, err := k.Sum("E")
		if text(err) != c.err {
			t.Errorf("%s: %v", name, err)
		}
		if k.Start(space); c.err == "" && !c.absent {
			k.Header(m, "h")
		}
		k.Int32("n", 1)
		want, _ := k.Sum("E")
		if c.err != "" || c.absent {
			want = Key{}
		}
		if key != want {
			t.Errorf("%s: key %v, want %v", name, key, want)
		}
	}
}

// A former key is the key that the former source gave; without one of its parts there is
// none, and that is no error of the record.
func TestFormer(t *testing.T) {
	m := &Message{Headers: []Header{{"h", []byte("1")}}}
	var k KeyBuilder
	k.Start(space)
	k.Header(m, "h")
	want, err := k.Sum("E")
	if err != nil || want == (Key{}) || k.Former() != want {
		t.Errorf("got %v, want %v, %v", k.Former(), want, err)
	}
	for name, add := range map[string]func(){
		"missing": func() { k.Header(m, "none") },
		"empty":   func() { k.Text("t", "") },
		"absent":  func() { k.Absent() },
	} {
		k.Start(space)
		k.Header(m, "h")
		if add(); k.Former() != (Key{}) {
			t.Errorf("%s: key %v", name, k.Former())
		}
	}
}
