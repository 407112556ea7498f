package operate

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/idemgen/idemgen/internal/record"
	"github.com/idemgen/idemgen/runtime/wire"
)

// refused looks for the event of a key among the letters, and reports whether one is found. A
// letter claims no key, and has none unless it is a conflict or an effect's. So the record that it
// keeps tells: it holds the values that the key is made of.
func refused(ctx context.Context, db DB, a *Answer, of []Status, key Key) (found bool, err error) {
	var streams []int32
	for i := range of {
		streams = append(streams, of[i].Stream)
	}
	var values [][]byte
	for _, parts := range []map[string]string{key.Headers, key.Fields} {
		for _, text := range parts {
			values = append(values, []byte(text))
		}
	}
	hash := hex.EncodeToString(key.Hash[:])
	all, err := LettersWith(ctx, db, streams, hash, values)
	if err != nil {
		return false, err
	}
	for i := range all {
		l := &all[i]
		if l.Event != "" && l.Event != key.Event {
			continue
		}
		is := l.Key == hash
		if l.Key == "" {
			stored, _, err := l.Stored(ctx, db)
			if err != nil {
				return false, err
			}
			m, err := record.Parse(stored)
			is = err == nil && holdsParts(&m, key)
		}
		if !is {
			continue
		}
		a.Letter, a.Verdict, a.Key = l, verdictOf[l.State], l.Key
		a.Because = fmt.Sprintf("the record at offset %d of %s/%d, which ledger row %d passed at %s, has this key: %s",
			l.Offset, l.Topic, l.Partition, l.Seq, l.CreatedAt.Format(time.RFC3339), l.Class)
		if r := l.Request; r != nil && r.Answer != "" {
			a.Because += "; the last answer to a request: " + r.Answer
		}
		return true, nil
	}
	return false, nil
}

// holdsParts reports whether a record has the values that the key is made of. A field is looked
// for in the record key, among the values of a JSON payload, and in the bytes of any other one.
func holdsParts(m *wire.Message, key Key) bool {
	for name, text := range key.Headers {
		if value, err := m.Header(name); err != nil || string(value) != text {
			return false
		}
	}
	for _, text := range key.Fields {
		if !holdsText(m.Key, text) && !holdsText(m.Value, text) {
			return false
		}
	}
	return true
}

// holdsText reports whether a document has a text, as one of its values if it is JSON.
func holdsText(document []byte, text string) bool {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return bytes.Contains(document, []byte(text))
	}
	return among(v, text)
}

func among(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			if among(member, text) {
				return true
			}
		}
	case []any:
		for _, element := range v {
			if among(element, text) {
				return true
			}
		}
	case nil:
		return false
	default:
		return fmt.Sprint(v) == text
	}
	return false
}
