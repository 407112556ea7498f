package seedlog

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
)

var base = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// scalar is value number n of a type as text.
func scalar(t model.FieldType, c *class, label string, n int) string {
	at := base.Add(time.Duration(n) * time.Minute)
	switch t.Kind {
	case model.String:
		switch {
		case c.uuid:
			return uuidText(n)
		case c.parsed != "":
			return model.ParsedText(c.parsed, n)
		}
		return c.text(label, n)
	case model.UUID:
		return uuidText(n)
	case model.Bool:
		return strconv.FormatBool(n%2 == 1)
	case model.Int32, model.Int64:
		return strconv.Itoa(c.small(n))
	case model.Float64:
		return strconv.Itoa(n) + ".5"
	case model.Decimal:
		return decimal(t, c.decimal(n))
	case model.Timestamp:
		if t.AnyTime {
			at = at.AddDate(-65, 0, 0) // before 1973
		}
		if t.Notation != model.Usual {
			return strconv.FormatInt(at.UnixNano()/int64(t.Notation.Unit()), 10)
		}
		return at.Format(time.RFC3339)
	case model.LocalTimestamp:
		if t.Notation == model.Array {
			return at.Format("[2006,1,2,") + strconv.Itoa(at.Hour()) + "," + strconv.Itoa(at.Minute()) + "]"
		}
		return at.Format("2006-01-02T15:04:05")
	case model.Date:
		if t.Notation == model.Array {
			return day(n).Format("[2006,1,2]")
		}
		if t.Notation == model.EpochDays {
			return strconv.FormatInt(day(n).Unix()/(24*60*60), 10)
		}
		return day(n).Format(time.DateOnly)
	case model.Bytes:
		return base64.StdEncoding.EncodeToString([]byte(label + " " + strconv.Itoa(n)))
	case model.Enum:
		text := enumText(t.Named, n)
		if text == "" {
			return c.text("unlisted", n)
		}
		return text
	default: // JSON
		return fmt.Sprintf(`{"n":%d}`, n)
	}
}

// decimal is a number that is not negative in the notation of its type.
func decimal(t model.FieldType, text string) string {
	whole, fraction, _ := strings.Cut(text, ".")
	scale := len(fraction)
	switch t.Notation {
	case model.Unscaled:
		scale = t.Scale
	case model.WithScale:
	default:
		return text
	}
	n, _ := new(big.Int).SetString(whole+(fraction + strings.Repeat("0", scale))[:scale], 10)
	raw := append([]byte{0}, n.Bytes()...) // the first bit is the sign
	digits := base64.StdEncoding.EncodeToString(raw)
	if t.Notation == model.WithScale {
		return fmt.Sprintf(`{"scale":%d,"value":"%s"}`, scale, digits)
	}
	return digits
}

// enumText is one of an enum's texts; "" if it has none.
func enumText(t *model.Type, n int) string {
	if len(t.Enum) == 0 {
		return ""
	}
	return t.Enum[(n^n>>1)%len(t.Enum)].Text
}

// day is one of those that have four digits in their year.
func day(n int) time.Time { return base.AddDate(0, 0, n%2_000_000) }

// quoted reports whether a scalar of the type is a string in JSON.
func quoted(t model.FieldType) bool {
	switch t.Kind {
	case model.Timestamp, model.LocalTimestamp, model.Date:
		return t.Notation == model.Usual
	case model.Decimal:
		return t.Notation == model.Unscaled
	case model.String, model.UUID, model.Bytes, model.Enum:
		return true
	}
	return false
}

func uuidText(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// text is "label n", shortened to what the columns hold.
func (c *class) text(label string, n int) string {
	number := strconv.Itoa(n)
	full := label + " " + number
	if c.length == 0 || utf8.RuneCountInString(full) <= c.length && !c.exactly {
		return full
	}
	if c.length <= len(number) {
		number = number[len(number)-c.length:]
		return strings.Repeat("0", c.length-len(number)) + number
	}
	letters := label[:min(len(label), c.length-len(number), 3)]
	if c.exactly {
		number = strings.Repeat("0", c.length-len(number)-len(letters)) + number
	}
	return letters + number
}

// small keeps n within the digits of the columns.
func (c *class) small(n int) int {
	if c.whole >= 0 && c.whole < 9 {
		limit := 1
		for range c.whole {
			limit *= 10
		}
		return n % limit
	}
	return n
}

// decimal gives amounts a fraction where the columns have one; values that name rows are
// whole numbers.
func (c *class) decimal(n int) string {
	whole := strconv.Itoa(c.small(n))
	switch {
	case c.row || c.fraction == 0:
		return whole
	case c.fraction == 1:
		return whole + ".5"
	}
	return whole + ".50"
}
