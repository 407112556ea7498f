package seedlog

import "github.com/idemgen/idemgen/generator/model"

// Packed is the value of a record as producers of a topic send it; logs hold values as they are
// before.
func Packed(t *model.Topic, value []byte) []byte {
	if value == nil || t.Payload.Encoding == "" {
		return value
	}
	return []byte(Quote(string(value)))
}
