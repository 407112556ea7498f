package avromsg_test

import (
	"encoding/json"
	"testing"

	"github.com/idemgen/idemgen/internal/avromsg"
)

// Whatever bytes are opened is JSON, which is packed into what opens as the same JSON.
func FuzzOpen(f *testing.F) {
	is, err := avromsg.New(order, "")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{whole, `{}`} {
		value, err := is.Pack([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		text, why, err := is.OpenWithin(nil, value, is.Own(), 0)
		if err != nil || len(why) > 0 {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%s", text)
		}
		again, err := is.Pack(text)
		if err != nil {
			return // a time that its text cannot hold, a union whose member has no name
		}
		if opened, err := is.Open(nil, again, is.Own()); err != nil || string(opened) != string(text) {
			t.Errorf("%v\n got %s\nwant %s", err, opened, text)
		}
	})
}
