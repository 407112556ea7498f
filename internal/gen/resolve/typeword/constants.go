package typeword

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// Fit says what is wrong with a constant: nothing ([Fits]), or a hint for the user.
type Fit string

// Fits says that nothing is wrong with a constant.
const Fits Fit = ""

var (
	integerText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	decimalText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	floatText   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	uuidText    = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// ColumnConstant reads a constant for a column and returns its normal form.
func ColumnConstant(ct model.ColType, text string) (string, Fit) {
	switch ct.Kind {
	case model.ColText, model.ColNamed, model.ColParsed:
		return plainText(text)
	case model.ColVarchar:
		if n := utf8.RuneCountInString(text); n > ct.Len {
			return "", Fit(fmt.Sprintf("its length is %d, the column holds %d", n, ct.Len))
		}
		return plainText(text)
	case model.ColChar:
		if n := utf8.RuneCountInString(text); n != ct.Len {
			return "", Fit(fmt.Sprintf("its length is %d, and values are never padded: the column needs %d", n, ct.Len))
		}
		return plainText(text)
	case model.ColBoolean:
		return boolText(text)
	case model.ColSmallint:
		return intText(text, 16)
	case model.ColInteger:
		return intText(text, 32)
	case model.ColBigint:
		return intText(text, 64)
	case model.ColNumeric:
		return numericText(text, ct.Precision, ct.Scale)
	case model.ColReal:
		return realText(text)
	case model.ColDouble:
		return doubleText(text)
	case model.ColUUID:
		return uuidConstant(text)
	case model.ColTimestamptz:
		return timeText(text)
	case model.ColTimestamp:
		return localTimeText(text)
	case model.ColDate:
		return dateText(text)
	case model.ColBytea:
		return base64Text(text)
	case model.ColJSONB, model.ColJSON:
		return jsonText(text)
	}
	if text == "{}" { // arrays
		return text, Fits
	}
	return "", "the only constant of an array column is the empty array: \"{}\""
}

// FieldConstant reads the default of a field and returns its normal form.
func FieldConstant(ft model.FieldType, text string) (string, Fit) {
	switch ft.Kind {
	case model.String:
		return plainText(text)
	case model.Enum:
		var words []string
		for _, v := range ft.Named.Enum {
			if v.Text == text {
				return text, Fits
			}
			words = append(words, v.Text)
		}
		return "", Fit("write one of its texts: " + strings.Join(words, ", "))
	case model.UUID:
		return uuidConstant(text)
	case model.Bool:
		return boolText(text)
	case model.Int32:
		return intText(text, 32)
	case model.Int64:
		return intText(text, 64)
	case model.Float64:
		return doubleText(text)
	case model.Decimal:
		return numericText(text, 0, 0)
	case model.Timestamp:
		if ft.Notation != model.Usual {
			return epochText(text, ft.Notation.Unit(), ft.AnyTime)
		}
		return timeText(text)
	case model.LocalTimestamp:
		return localTimeText(text)
	case model.Date:
		if ft.Notation == model.EpochDays {
			return intText(text, 32)
		}
		return dateText(text)
	case model.Bytes:
		return base64Text(text)
	case model.JSON:
		return jsonText(text)
	}
	return "", "only scalars, enums and json have defaults"
}

func plainText(text string) (string, Fit) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", "it must be valid UTF-8 without U+0000"
	}
	return text, Fits
}

func boolText(text string) (string, Fit) {
	if text == "true" || text == "false" {
		return text, Fits
	}
	return "", "write true or false"
}

func intText(text string, bits int) (string, Fit) {
	if !integerText.MatchString(text) {
		return "", "write a whole number"
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return "", "it is out of range"
	}
	return strconv.FormatInt(n, 10), Fits
}

// epochText accepts whole numbers that the decoder accepts: 1973-03-03 up to 2200 in the unit, or
// any of the years 0000 to 9999.
func epochText(text string, unit time.Duration, anyTime bool) (string, Fit) {
	norm, why := intText(text, 64)
	if why != Fits {
		return "", why
	}
	n, _ := strconv.ParseInt(norm, 10, 64)
	perSecond := int64(time.Second / unit)
	at := time.Unix(n/perSecond, n%perSecond*int64(unit)) // before 1970 both are negative
	first, end := time.Date(1973, 3, 3, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	why = "it lies outside 1973-03-03 to 2200: the unit is wrong"
	if anyTime {
		first, end = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		why = "it lies outside the years 0000 to 9999"
	}
	if at.Before(first) || !at.Before(end) {
		return "", why
	}
	return norm, Fits
}

func numericText(text string, precision, scale int) (string, Fit) {
	if !decimalText.MatchString(text) {
		return "", "write digits with at most one point: 12.50"
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	fraction = strings.TrimRight(fraction, "0")
	if precision > 0 && (len(strings.TrimLeft(whole, "0")) > precision-scale || len(fraction) > scale) {
		return "", Fit(fmt.Sprintf("digits before the point: %d at most, after it: %d", precision-scale, scale))
	}
	return text, Fits
}

func doubleText(text string) (string, Fit) {
	if !floatText.MatchString(text) {
		return "", "write a number"
	}
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if err != nil || f == 0 && strings.Trim(mantissa, "-0.") != "" {
		return "", "it is out of range"
	}
	return text, Fits
}

// realText accepts what real stores and writes as it is.
func realText(text string) (string, Fit) {
	text, why := doubleText(text)
	if f, _ := strconv.ParseFloat(text, 64); why == Fits {
		if short, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64); short != f {
			return "", "real has 6 to 9 digits: use double precision"
		}
	}
	return text, why
}

func uuidConstant(text string) (string, Fit) {
	if !uuidText.MatchString(text) {
		return "", "write the 36-character form"
	}
	return strings.ToLower(text), Fits
}

func timeText(text string) (string, Fit) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || strings.Contains(text, ",") {
		return "", "write RFC 3339 with a zone: 2026-01-31T12:00:00Z"
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return "", "it lies outside the years 0000 to 9999 in UTC"
	}
	return t.Truncate(time.Microsecond).Format(time.RFC3339Nano), Fits
}

func localTimeText(text string) (string, Fit) {
	const layout = "2006-01-02T15:04:05.999999999"
	t, err := time.Parse(layout, text)
	if err != nil || strings.Contains(text, ",") {
		return "", "write RFC 3339 without a zone: 2026-01-31T12:00:00"
	}
	return t.Truncate(time.Microsecond).Format(layout), Fits
}

func dateText(text string) (string, Fit) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", "write YYYY-MM-DD"
	}
	return text, Fits
}

func base64Text(text string) (string, Fit) {
	if _, err := base64.StdEncoding.Strict().DecodeString(text); err != nil {
		return "", "write base64"
	}
	return text, Fits
}

func jsonText(text string) (string, Fit) {
	switch {
	case !json.Valid([]byte(text)):
		return "", "write JSON, in quotes: '{\"a\": 1}'"
	case strings.TrimSpace(text) == "null":
		return "", "a JSON null is not a value here: write NULL instead"
	case strings.Contains(text, `\u0000`):
		return "", "Postgres cannot store U+0000"
	}
	return text, Fits
}
