// Package asjson is what the packages have in common that open messages as JSON: how values are
// written, and what is written in place of a value that cannot be read. It must not import any
// package of this module but text.
package asjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/text"
)

// MostDepth is how deep objects and arrays may nest.
const MostDepth = 64

// Writer writes the value of one record as JSON. A value that cannot be read does not fail the
// record, because nobody may read it: a text takes its place that no field accepts, and Why says
// what is wrong with it.
type Writer struct {
	Most  int            // bytes of JSON that the value may become; 0 means any number
	Start int            // position of the JSON in the bytes that are appended to
	Why   map[int]string // by position in the JSON: why a field cannot read the value there
}

// Check returns an error if the value has become longer than it may.
func (w *Writer) Check(b []byte) error {
	if w.Most > 0 && len(b)-w.Start > w.Most {
		return fmt.Errorf("it becomes more than %d bytes of JSON (limits.max_payload)", w.Most)
	}
	return nil
}

// Note says why a field cannot read the value that is appended next.
func (w *Writer) Note(b []byte, why string) {
	if w.Why == nil {
		w.Why = map[int]string{}
	}
	w.Why[len(b)-w.Start] = why
}

// Refuse appends a text in place of a value that cannot be read. why contains nothing of the
// value.
func (w *Writer) Refuse(b []byte, why string) []byte {
	w.Note(b, why)
	return append(append(append(b, text.Refused...), why...), '"')
}

// Text appends a text. U+0000 stays in it, as in JSON that a producer wrote: the field that reads
// the text refuses it.
func (w *Writer) Text(b []byte, value string) []byte {
	if text.Flaw(value) == text.NotUTF8 {
		return w.Refuse(b, text.NotUTF8)
	}
	return appendText(b, value)
}

// Name appends the name of a member that is data, such as a key of a map.
func (w *Writer) Name(b []byte, name string) []byte {
	if text.Flaw(name) == text.NotUTF8 {
		return w.Refuse(b, "holds a name that "+text.NotUTF8)
	}
	return appendText(b, name)
}

// appendText appends a text that is UTF-8.
func appendText(b []byte, value string) []byte {
	if !strings.ContainsFunc(value, escaped) {
		return append(append(append(b, '"'), value...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a buffer takes every text
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

func escaped(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

// Float appends a number. NaN and the infinities become texts, which json reads and no field of a
// number does.
func (w *Writer) Float(b []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.Note(b, "is NaN or infinity, which the type does not have")
		return strconv.AppendQuote(b, strconv.FormatFloat(v, 'g', -1, bits))
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// Bytes appends bytes in base64.
func Bytes(b, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"')
}

// Depth returns how deep the objects and arrays of a document nest.
func Depth(document []byte) (most int) {
	depth, quoted := 0, false
	for i := 0; i < len(document); i++ {
		switch c := document[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}
