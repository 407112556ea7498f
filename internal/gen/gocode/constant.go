package gocode

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idemgen/idemgen/internal/gen/model"
)

var units = []struct {
	unit time.Duration
	name string
}{
	{time.Hour, "Hour"},
	{time.Minute, "Minute"},
	{time.Second, "Second"},
	{time.Millisecond, "Millisecond"},
	{time.Nanosecond, "Nanosecond"},
}

// duration writes d in its largest whole unit.
func duration(d time.Duration) code {
	if d == 0 {
		return lit(0)
	}
	for _, u := range units {
		switch {
		case d == u.unit:
			return qual("time", u.name)
		case d%u.unit == 0:
			return text("%d *", d/u.unit).Add(qual("time", u.name))
		}
	}
	return nil // every duration is whole in nanoseconds
}

// size writes a number of bytes in its largest whole unit.
func size(n int64) code {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return text("%d << 20", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return text("%d << 10", n>>10)
	}
	return text("%d", n)
}

// constant writes the default of a field as a Go expression.
func constant(t model.FieldType, c *model.Constant) (code, error) {
	switch t.Kind {
	case model.String:
		return lit(c.Text), nil
	case model.Enum:
		for _, v := range t.Named.Enum {
			if v.Text == c.Text {
				return text(v.GoName), nil
			}
		}
		return nil, fmt.Errorf("%s has no value %q", t.Named.Name, c.Text)
	case model.Bool, model.Int32, model.Int64, model.Float64:
		return text(c.Text), nil
	case model.Decimal:
		return wire("MustDecimal").Call(lit(c.Text)), nil
	case model.UUID:
		return uuidLiteral(c.Text)
	case model.Bytes:
		raw, err := base64.StdEncoding.DecodeString(c.Text)
		return text("[]byte(%q)", raw), err
	case model.JSON:
		return qual("encoding/json", "RawMessage").Call(lit(c.Text)), nil
	}
	return timeConstant(t, c.Text)
}

func uuidLiteral(text36 string) (code, error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(text36, "-", ""))
	if err != nil || len(raw) != 16 {
		return nil, fmt.Errorf("%q is not a UUID", text36)
	}
	var bytes []string
	for _, b := range raw {
		bytes = append(bytes, fmt.Sprintf("%#02x", b))
	}
	return idem("UUID").Values(text("%s", strings.Join(bytes, ", "))), nil
}

const localLayout = "2006-01-02T15:04:05.999999999"

func timeConstant(t model.FieldType, value string) (code, error) {
	switch t.Kind {
	case model.LocalTimestamp:
		at, err := time.Parse(localLayout, value)
		return idem("LocalTime").Call(text("%d", at.UnixMicro())), err
	case model.Timestamp, model.Date:
		return momentConstant(t, value)
	}
	return nil, fmt.Errorf("a field of this type cannot have a default")
}

// momentConstant is a timestamp or a date in its notation.
func momentConstant(t model.FieldType, value string) (code, error) {
	if t.Notation == model.Usual && t.Kind == model.Timestamp {
		at, err := time.Parse(time.RFC3339Nano, value)
		return date(at), err
	}
	if t.Kind == model.Date && t.Notation != model.EpochDays {
		at, err := time.Parse(time.DateOnly, value)
		return idem("Date").Call(text("%d", at.Unix()/86400)), err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch t.Notation {
	case model.EpochDays:
		return idem("Date").Call(text("%d", n)), err
	case model.EpochSeconds:
		return date(time.Unix(n, 0).UTC()), err
	case model.EpochMillis:
		return date(time.UnixMilli(n).UTC()), err
	case model.EpochMicros:
		return date(time.UnixMicro(n).UTC()), err
	}
	return date(time.Unix(0, n).UTC().Truncate(time.Microsecond)), err
}

func date(t time.Time) code {
	return qual("time", "Date").Call(
		lit(t.Year()), text("%d", t.Month()), lit(t.Day()),
		lit(t.Hour()), lit(t.Minute()), lit(t.Second()), lit(t.Nanosecond()), qual("time", "UTC"))
}
