package oracle

import (
	"encoding/base64"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
)

// parseText reads a scalar from its text; why says why it is of another type.
func parseText(t model.FieldType, text string) (v value, why string) {
	var err error
	switch t.Kind {
	case model.String:
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return nil, "must be UTF-8 text without U+0000"
		}
		return text, ""
	case model.Enum:
		if !slices.ContainsFunc(t.Named.Enum, func(e model.EnumValue) bool { return e.Text == text }) {
			return nil, "must be a value of " + t.Named.Name
		}
		return text, ""
	case model.UUID:
		u, ok := parseUUID(text)
		if !ok {
			return nil, "must be a UUID of 36 characters"
		}
		return u, ""
	case model.Bool:
		if text != "true" && text != "false" {
			return nil, "must be true or false"
		}
		return text == "true", ""
	case model.Int32:
		v, err = parseInteger(text, 32)
	case model.Int64:
		v, err = parseInteger(text, 64)
	case model.Float64:
		return parseFloat(text)
	case model.Decimal:
		v, err = parseDecimal(text, maxDigits)
	case model.Timestamp:
		if t.Notation != model.Usual {
			v, err = parseEpoch(t, text)
			break
		}
		v, err = parseInstant(text)
	case model.LocalTimestamp:
		v, err = parseWall(text)
	case model.Date:
		if t.Notation != model.Usual {
			v, err = parseEpoch(t, text)
			break
		}
		v, err = parseDay(text)
	case model.Bytes:
		return parseBase64(text)
	}
	if err != nil {
		return nil, err.Error()
	}
	return v, ""
}

func parseEpoch(t model.FieldType, text string) (value, error) {
	if t.Notation == model.EpochSeconds && strings.Contains(text, ".") {
		return fromSeconds(t, text)
	}
	n, err := parseInteger(text, 64)
	switch {
	case err != nil:
		return nil, err
	case t.Notation == model.EpochDays:
		return fromEpochDays(n)
	}
	return fromEpoch(t, big.NewRat(n, int64(time.Second/t.Notation.Unit())))
}

// fromSeconds reads seconds with a fraction, and no exponent.
func fromSeconds(t model.FieldType, text string) (value, error) {
	_, _, _, _, err := splitNumber(text)
	n, ok := new(big.Rat).SetString(text)
	if err != nil || !ok || strings.ContainsAny(text, "eE") {
		return nil, errNotNumber
	}
	return fromEpoch(t, n)
}

func parseFloat(text string) (value, string) {
	_, digits, _, _, err := splitNumber(text)
	if err != nil {
		return nil, err.Error()
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, "too large for float64"
	}
	if f == 0 && strings.Trim(digits, "0") != "" {
		return nil, "too small for float64"
	}
	return f, ""
}

func parseBase64(text string) (value, string) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, "must be base64"
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, "must be base64"
	}
	return b, ""
}
