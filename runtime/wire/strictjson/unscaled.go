package strictjson

import (
	"math"

	"github.com/idemgen/idemgen/runtime/wire"
	"github.com/idemgen/idemgen/runtime/wire/internal/notation"
)

// DecimalBytes reads the base64 text of a big-endian, two's complement integer: the digits of a
// number, scale of them after the point.
func (s *Scanner) DecimalBytes(scale int64) wire.Decimal {
	raw, start, ok := s.stringValue(notation.NotUnscaled)
	if !ok {
		return wire.Decimal{}
	}
	data, _, reason := notation.Bytes(nil, raw)
	if reason != "" {
		s.failAt(start, notation.NotUnscaled)
		return wire.Decimal{}
	}
	return s.unscaled(start, data, scale)
}

// DecimalStruct reads an object with the members value, as [Scanner.DecimalBytes] reads it, and
// scale.
func (s *Scanner) DecimalStruct() wire.Decimal {
	s.peek()
	start := s.pos
	raw := s.JSON()
	if raw == nil {
		return wire.Decimal{}
	}
	var of Scanner
	var scale int64
	var data []byte
	var seen struct{ scale, value bool }
	of.start(raw, false)
	for of.Object(); of.Member(); {
		switch of.Name() {
		case "scale":
			of.Once(&seen.scale)
			scale = of.integer(math.MinInt32, math.MaxInt32, false)
		case "value":
			of.Once(&seen.value)
			data = of.Bytes()
		default:
			of.Skip()
		}
	}
	if of.Failure() != nil || !seen.scale || !seen.value {
		s.failAt(start, notation.NotScaled)
		return wire.Decimal{}
	}
	return s.unscaled(start, data, scale)
}

func (s *Scanner) unscaled(start int, data []byte, scale int64) wire.Decimal {
	plain, grown, reason := notation.Unscaled(data, scale, s.text)
	s.text = grown
	s.check(start, reason)
	return wire.PlainDecimal(notation.Borrow(plain))
}
