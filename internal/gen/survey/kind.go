package survey

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/idemgen/idemgen/runtime/wire"
)

// kinds is a set of what values of one place were.
type kinds uint16

const (
	uuid kinds = 1 << iota
	timestamp
	localTimestamp
	date
	digits      // a whole number as text
	decimalText // a number with a fraction as text
	text        // any other
	integer     // that fits an int64
	large       // that does not
	float
	boolean
	list
	other // objects, numbers out of range
)

const texts = uuid | timestamp | localTimestamp | date | digits | decimalText | text

var (
	isDigits  = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)
	isDecimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,99})\.[0-9]{1,99}$`)
)

// kindOfText returns what a text is.
func kindOfText(s string) kinds {
	if len(s) > 210 {
		return text
	}
	switch {
	case reads(s, func(t wire.Text) { t.UUID() }):
		return uuid
	case isDigits.MatchString(s):
		return digits
	case isDecimal.MatchString(s):
		return decimalText
	case reads(s, func(t wire.Text) { t.Time() }):
		return timestamp
	case reads(s, func(t wire.Text) { t.LocalTime() }):
		return localTimestamp
	case reads(s, func(t wire.Text) { t.Date() }):
		return date
	}
	return text
}

// reads reports whether a service reads a text so.
func reads(s string, as func(wire.Text)) bool {
	var r wire.Reader
	as(r.Header(&wire.Message{Headers: []wire.Header{{Name: "v", Value: []byte(s)}}}, "v"))
	return r.Failure() == nil
}

// kindOfNumber returns what a JSON number is.
func kindOfNumber(s string) kinds {
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		return integer
	}
	if isDigitsOnly(s) {
		if len(s) > 1000 {
			return other
		}
		return large
	}
	if f, err := strconv.ParseFloat(s, 64); err != nil || f == 0 && bytes.ContainsAny([]byte(mantissa(s)), "123456789") {
		return other
	}
	return float
}

func isDigitsOnly(s string) bool { return !bytes.ContainsAny([]byte(s), ".eE") }

func mantissa(s string) string {
	before, _, _ := bytes.Cut(bytes.ToLower([]byte(s)), []byte("e"))
	return string(before)
}

// kindOfJSON returns what a JSON value is, the kinds of a list's elements, and the text of a
// scalar; null has no kind.
func kindOfJSON(raw json.RawMessage) (is, elements kinds, plain string) {
	switch raw[0] {
	case 'n':
		return 0, 0, ""
	case 't', 'f':
		return boolean, 0, ""
	case '{':
		return other, 0, ""
	case '[':
		var values []json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			return other, 0, ""
		}
		for _, v := range values {
			of, _, _ := kindOfJSON(v)
			if of == 0 {
				of = other // a list holds no null
			}
			elements |= of
		}
		return list, elements, ""
	case '"':
		if json.Unmarshal(raw, &plain) != nil {
			return other, 0, ""
		}
		return kindOfText(plain), 0, plain
	}
	return kindOfNumber(string(raw)), 0, string(raw)
}

// word returns the type that reads all of these kinds. int32 is never one: a sample does not show
// that no later value is greater.
func word(is, elements kinds) string {
	within := func(of kinds) bool { return is&^of == 0 }
	switch {
	case is == 0:
		return ""
	case is == uuid:
		return "uuid"
	case is == timestamp:
		return "timestamp"
	case is == localTimestamp:
		return "local_timestamp"
	case is == date:
		return "date"
	case is == boolean:
		return "bool"
	case is == integer:
		return "int64"
	case within(integer | float):
		return "float64"
	case is == digits || within(texts) && !within(digits|decimalText):
		return "string"
	case is == digits|integer:
		return "int64"
	case within(digits | decimalText | integer | large | float):
		return "decimal"
	case is == list && elements&(list|other) == 0:
		if of := word(elements, 0); of != "" && of != "json" {
			return "list(" + of + ")"
		}
	}
	return "json"
}
