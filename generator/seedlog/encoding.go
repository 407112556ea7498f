package seedlog

import (
	"bytes"
	"compress/gzip"

	"github.com/idemgen/idemgen/generator/model"
)

// Packed is the value of a record as producers of a topic send it; logs hold values as they are
// before.
func Packed(t *model.Topic, value []byte) []byte {
	if value == nil {
		return nil
	}
	switch t.Payload.Encoding {
	case "gzip":
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(value) // a buffer takes everything
		_ = w.Close()
		return out.Bytes()
	case "json_string":
		return []byte(quote(string(value)))
	}
	return value
}
