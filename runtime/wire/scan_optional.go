package wire

import (
	"encoding/json"
	"time"
)

// optionals are the arenas that optional values point into.
type optionals struct {
	texts    []string
	uuids    []UUID
	bools    []bool
	int32s   []int32
	int64s   []int64
	floats   []float64
	decimals []Decimal
	times    []time.Time
	locals   []LocalTime
	dates    []Date
}

func (o *optionals) reset() {
	o.texts, o.uuids, o.bools = o.texts[:0], o.uuids[:0], o.bools[:0]
	o.int32s, o.int64s, o.floats = o.int32s[:0], o.int64s[:0], o.floats[:0]
	o.decimals, o.times = o.decimals[:0], o.times[:0]
	o.locals, o.dates = o.locals[:0], o.dates[:0]
}

// keep adds v to an arena. Growing moves the arena, but never what was handed out.
func keep[T any](arena *[]T, v T) *T {
	*arena = append(*arena, v)
	return &(*arena)[len(*arena)-1]
}

// OptString reads a string or null.
func (s *Scanner) OptString() *string {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.texts, s.String())
}

// OptEnum is Enum or null.
func (s *Scanner) OptEnum(texts []string) *string {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.texts, s.Enum(texts))
}

// OptUUID is UUID or null.
func (s *Scanner) OptUUID() *UUID {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.uuids, s.UUID())
}

// OptBool is Bool or null.
func (s *Scanner) OptBool() *bool {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.bools, s.Bool())
}

// OptInt32 is Int32 or null.
func (s *Scanner) OptInt32() *int32 {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.int32s, s.Int32())
}

// OptInt64 is Int64 or null.
func (s *Scanner) OptInt64() *int64 {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.int64s, s.Int64())
}

// OptFloat64 is Float64 or null.
func (s *Scanner) OptFloat64() *float64 {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.floats, s.Float64())
}

// OptDecimal is Decimal or null.
func (s *Scanner) OptDecimal() *Decimal {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.decimals, s.Decimal())
}

// OptTime is Time or null.
func (s *Scanner) OptTime() *time.Time {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.times, s.Time())
}

// OptEpochS is EpochS or null.
func (s *Scanner) OptEpochS() *time.Time { return s.optEpoch(1) }

// OptEpochMS is EpochMS or null.
func (s *Scanner) OptEpochMS() *time.Time { return s.optEpoch(1e3) }

// OptEpochUS is EpochUS or null.
func (s *Scanner) OptEpochUS() *time.Time { return s.optEpoch(1e6) }

// OptEpochNS is EpochNS or null.
func (s *Scanner) OptEpochNS() *time.Time { return s.optEpoch(1e9) }

func (s *Scanner) optEpoch(perSecond int64) *time.Time {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.times, s.epoch(perSecond))
}

// OptLocalTime is LocalTime or null.
func (s *Scanner) OptLocalTime() *LocalTime {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.locals, s.LocalTime())
}

// OptDate is Date or null.
func (s *Scanner) OptDate() *Date {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.dates, s.Date())
}

// OptEpochDays is EpochDays or null.
func (s *Scanner) OptEpochDays() *Date {
	if s.Null() {
		return nil
	}
	return keep(&s.opt.dates, s.EpochDays())
}

// OptBytes is Bytes or null, which is nil.
func (s *Scanner) OptBytes() []byte {
	if s.Null() {
		return nil
	}
	return s.Bytes()
}

// OptJSON is JSON or null, which is nil.
func (s *Scanner) OptJSON() json.RawMessage {
	if s.Null() {
		return nil
	}
	return s.JSON()
}
