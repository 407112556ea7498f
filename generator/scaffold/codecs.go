package scaffold

import (
	"bytes"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
)

// Codecs renders type ServiceCodecs with a method for each codec. Each returns ErrNotImplemented,
// so that a forgotten one halts its partition and loses nothing.
func Codecs(s *model.Service) ([]byte, error) {
	var methods []codec
	for _, c := range s.Codecs {
		methods = append(methods, codec{CodecsType, c})
	}
	has := func(kind model.Kind) bool {
		return slices.ContainsFunc(s.Codecs, func(c *model.Codec) bool { return c.Kind == kind })
	}
	return goFile("codecs.go.tmpl", struct {
		*model.Service
		Methods    []codec
		Time, JSON bool
	}{s, methods, has(model.Timestamp), has(model.JSON)})
}

// CodecMethod renders the method of one codec as Codecs does, for a type that is there.
func CodecMethod(receiver string, c *model.Codec) ([]byte, error) {
	text, err := fillPart("codecs.go.tmpl", "method", codec{receiver, c})
	return bytes.TrimSpace(text), err
}

// codec is what the template of a codec's method needs.
type codec struct {
	Receiver string
	*model.Codec
}

// goTypes are the Go types of values, by kind.
var goTypes = map[model.Kind]string{
	model.String: "string", model.UUID: "idem.UUID", model.Bool: "bool", model.Int32: "int32", model.Int64: "int64",
	model.Float64: "float64", model.Decimal: "idem.Decimal", model.Timestamp: "time.Time", model.LocalTimestamp: "idem.LocalTime",
	model.Date: "idem.Date", model.Bytes: "[]byte", model.JSON: "json.RawMessage",
}

// Go is the Go type of the values.
func (c codec) Go() string { return goTypes[c.Kind] }
