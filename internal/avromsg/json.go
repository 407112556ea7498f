package avromsg

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/avro"
)

const localTime = "2006-01-02T15:04:05.999999999"

// append writes a decoded value as JSON.
func (t *Type) append(b []byte, n *avro.SchemaNode, value any) ([]byte, error) {
	n = t.Of(n)
	if value == nil {
		return append(b, "null"...), nil
	}
	switch n.Type {
	case "union":
		return t.appendUnion(b, n, value)
	case "record", "error":
		return t.appendRecord(b, n, value)
	case "array":
		b = append(b, '[')
		for i, v := range value.([]any) {
			b = comma(b, i)
			var err error
			if b, err = t.append(b, n.Items, v); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case "map":
		members := value.(map[string]any)
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(members)) {
			var err error
			if b, err = appendText(comma(b, i), name); err != nil {
				return nil, err
			}
			if b, err = t.append(append(b, ':'), n.Values, members[name]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	return appendSingle(b, n, value)
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendUnion writes a value of a union, which is under the name of its type.
func (t *Type) appendUnion(b []byte, n *avro.SchemaNode, value any) ([]byte, error) {
	tagged := value.(map[string]any)
	branches := t.Branches(n)
	for _, of := range branches {
		is, ok := tagged[of.Full]
		switch {
		case !ok:
			continue
		case len(branches) == 1:
			return t.append(b, of.Is, is)
		}
		b = append(append(append(b, `{"type":"`...), of.Name...), `","`...)
		b, err := t.append(append(append(b, of.Name...), `":`...), of.Is, is)
		return append(b, '}'), err
	}
	return nil, errors.New("its union has a type that the schema does not have")
}

func (t *Type) appendRecord(b []byte, n *avro.SchemaNode, value any) (_ []byte, err error) {
	members := value.(map[string]any)
	b = append(b, '{')
	written := 0
	for i := range n.Fields {
		f := &n.Fields[i]
		if members[f.Name] == nil {
			continue
		}
		b = append(append(append(comma(b, written), '"'), f.Name...), `":`...)
		if b, err = t.append(b, &f.Type, members[f.Name]); err != nil {
			return nil, err
		}
		written++
	}
	return append(b, '}'), nil
}

// appendSingle writes a value that holds no others.
func appendSingle(b []byte, n *avro.SchemaNode, value any) ([]byte, error) {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(b, v), nil
	case int32:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case float32:
		return appendFloat(b, float64(v), 32), nil
	case float64:
		return appendFloat(b, v, 64), nil
	case string:
		return appendText(b, v)
	case []byte:
		return strconv.AppendQuote(b, base64.StdEncoding.EncodeToString(v)), nil
	case *big.Rat:
		return append(b, v.FloatString(n.Scale)...), nil
	case [16]byte:
		return strconv.AppendQuote(b, fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])), nil
	case avro.Duration:
		raw := v.Bytes()
		return strconv.AppendQuote(b, base64.StdEncoding.EncodeToString(raw[:])), nil
	case time.Duration:
		return strconv.AppendInt(b, int64(v/unitOf(n)), 10), nil
	case time.Time:
		return strconv.AppendQuote(b, v.UTC().Format(layoutOf(n))), nil
	}
	return nil, fmt.Errorf("its %s cannot be read", n.Type)
}

// layoutOf is how a date or a timestamp is written.
func layoutOf(n *avro.SchemaNode) string {
	switch {
	case n.LogicalType == "date":
		return time.DateOnly
	case strings.HasPrefix(n.LogicalType, "local-"):
		return localTime
	}
	return time.RFC3339Nano
}

// unitOf is what a time of day counts.
func unitOf(n *avro.SchemaNode) time.Duration {
	if n.LogicalType == "time-millis" {
		return time.Millisecond
	}
	return time.Microsecond
}

func appendFloat(b []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(b, strconv.FormatFloat(v, 'g', -1, bits))
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

func appendText(b []byte, text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it has a text that is no UTF-8")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a buffer takes every text
	return append(b, strings.TrimSuffix(out.String(), "\n")...), nil
}
