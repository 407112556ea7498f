package record

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// messages differ in everything that a record can have, or not have.
var messages = []wire.Message{
	{},
	{Time: time.UnixMicro(0), Key: []byte{}, Value: []byte{}},
	{Time: time.UnixMicro(-7), Appended: true, Key: []byte("k"), Value: []byte("\x00\xff")},
	{Time: time.UnixMicro(1 << 50), Value: bytes.Repeat([]byte("a"), 300), Headers: []wire.Header{
		{Name: "x", Value: []byte("1")}, {Name: "x", Value: nil}, {Name: "", Value: []byte{}},
	}},
}

func TestWhatIsStoredIsReadAgain(t *testing.T) {
	for i := range messages {
		want := messages[i]
		stored := Append([]byte("before"), &want)
		got, err := Parse(stored[len("before"):])
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		want.LeaderEpoch = -1
		if !got.Time.Equal(want.Time) || got.Time.IsZero() != want.Time.IsZero() {
			t.Errorf("%d: the time is %v, was %v", i, got.Time, want.Time)
		}
		got.Time = want.Time
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d: got %#v, want %#v", i, got, want)
		}
		clear(stored)
		if !bytes.Equal(got.Value, want.Value) {
			t.Errorf("%d: the message shares memory with what was stored", i)
		}
	}
}

// No part of a record can be cut off, and nothing can stand after it.
func TestDamagedRecordIsRefused(t *testing.T) {
	for i := range messages {
		stored := Append(nil, &messages[i])
		for n := range stored {
			if _, err := Parse(stored[:n]); err == nil {
				t.Errorf("%d: the first %d of %d bytes are taken for a record", i, n, len(stored))
			}
		}
		if _, err := Parse(append(stored, 0)); err == nil || !strings.Contains(err.Error(), "has no end at byte") {
			t.Errorf("%d: with a byte more: %v", i, err)
		}
	}
	for text, b := range map[string][]byte{
		"the stored record is damaged: it has no version at byte 0 of 0":          nil,
		"the stored record is in format 9, but this version only reads format 1":  {9, 0, 0, 0, 0, 0},
		"the stored record is damaged: it has no marks at byte 2 of 6":            {1, 2, 0, 0, 0, 0},
		"the stored record is damaged: it has no value at byte 5 of 6":            {1, 0, 0, 0, 9, 0},
		"the stored record is damaged: it has no headers at byte 6 of 6":          {1, 0, 0, 0, 0, 1},
		"the stored record is damaged: it has no headers at byte 10 of 10":        {1, 0, 0, 0, 0, 255, 255, 255, 255, 15},
		"the stored record is damaged: it has no name of a header at byte 7 of 8": {1, 0, 0, 0, 0, 1, 0, 0},
		"the stored record is damaged: it has no key at byte 3 of 13":             {1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 127},
	} {
		if _, err := Parse(b); err == nil || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%x: %v, not %q", b, err, text)
		}
	}
}

// FuzzRecord: whatever the bytes are, they are refused or are a record, which is stored as itself.
func FuzzRecord(f *testing.F) {
	for i := range messages {
		f.Add(Append(nil, &messages[i]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(Append(nil, &m))
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%x is %#v, which is stored as %#v (%v)", b, m, again, err)
		}
	})
}
