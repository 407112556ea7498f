package wire

import (
	"encoding/json"
	"time"
)

// OptString is String, or nil if the Text is absent.
func (t Text) OptString() *string {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.texts, t.String())
}

// OptEnum is Enum, or nil if the Text is absent.
func (t Text) OptEnum(texts []string) *string {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.texts, t.Enum(texts))
}

// OptUUID is UUID, or nil if the Text is absent.
func (t Text) OptUUID() *UUID {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.uuids, t.UUID())
}

// OptBool is Bool, or nil if the Text is absent.
func (t Text) OptBool() *bool {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.bools, t.Bool())
}

// OptInt32 is Int32, or nil if the Text is absent.
func (t Text) OptInt32() *int32 {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.int32s, t.Int32())
}

// OptInt64 is Int64, or nil if the Text is absent.
func (t Text) OptInt64() *int64 {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.int64s, t.Int64())
}

// OptFloat64 is Float64, or nil if the Text is absent.
func (t Text) OptFloat64() *float64 {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.floats, t.Float64())
}

// OptDecimal is Decimal, or nil if the Text is absent.
func (t Text) OptDecimal() *Decimal {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.decimals, t.Decimal())
}

// OptTime is Time, or nil if the Text is absent.
func (t Text) OptTime() *time.Time { return t.optTime(Text.Time) }

// OptEpochS is EpochS, or nil if the Text is absent.
func (t Text) OptEpochS() *time.Time { return t.optTime(Text.EpochS) }

// OptEpochMS is EpochMS, or nil if the Text is absent.
func (t Text) OptEpochMS() *time.Time { return t.optTime(Text.EpochMS) }

// OptEpochUS is EpochUS, or nil if the Text is absent.
func (t Text) OptEpochUS() *time.Time { return t.optTime(Text.EpochUS) }

// OptEpochNS is EpochNS, or nil if the Text is absent.
func (t Text) OptEpochNS() *time.Time { return t.optTime(Text.EpochNS) }

func (t Text) optTime(read func(Text) time.Time) *time.Time {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.times, read(t))
}

// OptLocalTime is LocalTime, or nil if the Text is absent.
func (t Text) OptLocalTime() *LocalTime {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.locals, t.LocalTime())
}

// OptDate is Date, or nil if the Text is absent.
func (t Text) OptDate() *Date {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.dates, t.Date())
}

// OptEpochDays is EpochDays, or nil if the Text is absent.
func (t Text) OptEpochDays() *Date {
	if t.s == nil {
		return nil
	}
	return keep(&t.s.opt.dates, t.EpochDays())
}

// OptBytes is Bytes: nil if the Text is absent.
func (t Text) OptBytes() []byte { return t.Bytes() }

// OptJSON is JSON: nil if the Text is absent.
func (t Text) OptJSON() json.RawMessage { return t.JSON() }
