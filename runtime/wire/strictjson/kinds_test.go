package strictjson

import (
	"encoding/json"
	"time"

	"github.com/idemgen/idemgen/runtime/wire"
)

// kinds has a member of every kind, and an optional one of each.
type kinds struct {
	S    string
	U    wire.UUID
	B    bool
	I    int32
	L    int64
	F    float64
	D    wire.Decimal
	T    time.Time
	ES   time.Time
	EM   time.Time
	EU   time.Time
	EN   time.Time
	LT   wire.LocalTime
	Day  wire.Date
	Days wire.Date
	X    []byte
	J    json.RawMessage
	E    string
	Objs []inner
	List []string
	O    optionalKinds
}

type inner struct{ Price int32 }

type optionalKinds struct {
	S    *string
	U    *wire.UUID
	B    *bool
	I    *int32
	L    *int64
	F    *float64
	D    *wire.Decimal
	T    *time.Time
	ES   *time.Time
	EM   *time.Time
	EU   *time.Time
	EN   *time.Time
	LT   *wire.LocalTime
	Day  *wire.Date
	Days *wire.Date
	X    []byte
	J    json.RawMessage
	E    *string
}

var colors = []string{"red", "gr\"een", ""}

// kindsJSON holds every kind, once required and once optional, with escapes.
const kindsJSON = ` {"s":"a\u00e9\ud83d\ude00\n","u":"7D2A1F0E-8b7a-4c31-9d52-0a1b2c3d4e5f","b":true,"i":-12,"l":"9007199254740993",` +
	`"f":-1.5e3,"d":12.50,"t":"2024-02-29T23:59:59.1234567+01:30","es":1700000000,"em":1700000000123,"eu":1700000000123456,` +
	`"en":1700000000123456789,"lt":"2024-02-29T23:59:59.5","day":"2024-02-29","days":-1,"x":"AAH\/","j":{"k":[1,null,"\t"]},` +
	`"e":"gr\"een","objs":[{"price":1},{"price":2}],"list":["a","b\\"],"unknown":{"\u0000":["\ud800",{"x":-0.0E-1}]},"o":{"s":"\u0041",` +
	`"u":"7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f","b":false,"i":1,"l":2,"f":3,"d":"1e2","t":"1999-12-31T00:00:00Z","es":100000000,` +
	`"em":100000000000,"eu":100000000000000,"en":100000000000000000,"lt":"1969-12-31T23:59:59.999999","day":"0000-01-01",` +
	`"days":0,"x":"","j":"x","e":"red"}} `

func (e *kinds) decode(s *Scanner) {
	*e = kinds{Objs: e.Objs[:0], List: e.List[:0]}
	var seen struct{ s, u, b, i, l, f, d, t, es, em, eu, en, lt, day, days, x, j, e, objs, list, o bool }
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "s":
			s.Once(&seen.s)
			e.S = s.String()
		case "u":
			s.Once(&seen.u)
			e.U = s.UUID()
		case "b":
			s.Once(&seen.b)
			e.B = s.Bool()
		case "i":
			s.Once(&seen.i)
			e.I = s.Int32()
		case "l":
			s.Once(&seen.l)
			e.L = s.Int64()
		case "f":
			s.Once(&seen.f)
			e.F = s.Float64()
		case "d":
			s.Once(&seen.d)
			e.D = s.Decimal()
		case "t":
			s.Once(&seen.t)
			e.T = s.Time()
		case "es":
			s.Once(&seen.es)
			e.ES = s.Epoch(time.Second)
		case "em":
			s.Once(&seen.em)
			e.EM = s.Epoch(time.Millisecond)
		case "eu":
			s.Once(&seen.eu)
			e.EU = s.Epoch(time.Microsecond)
		case "en":
			s.Once(&seen.en)
			e.EN = s.Epoch(time.Nanosecond)
		case "lt":
			s.Once(&seen.lt)
			e.LT = s.LocalTime()
		case "day":
			s.Once(&seen.day)
			e.Day = s.Date()
		case "days":
			s.Once(&seen.days)
			e.Days = s.EpochDays()
		case "x":
			s.Once(&seen.x)
			e.X = s.Bytes()
		case "j":
			s.Once(&seen.j)
			e.J = s.JSON()
		case "e":
			s.Once(&seen.e)
			e.E = Enum(s, colors)
		case "objs":
			s.Once(&seen.objs)
			for s.Array(); s.Element(); {
				var v inner
				v.decode(s)
				e.Objs = append(e.Objs, v)
			}
		case "list":
			s.Once(&seen.list)
			for s.Array(); s.Element(); {
				e.List = append(e.List, s.String())
			}
		case "o":
			s.Once(&seen.o)
			e.O.decode(s)
		default:
			s.Skip()
		}
	}
	s.Require(seen.s, "s")
}

func (e *inner) decode(s *Scanner) {
	var seen struct{ price bool }
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "price":
			s.Once(&seen.price)
			e.Price = s.Int32()
		default:
			s.Skip()
		}
	}
	s.Require(seen.price, "price")
}

func (e *optionalKinds) decode(s *Scanner) {
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "s":
			e.S = Opt(s, s.String)
		case "u":
			e.U = Opt(s, s.UUID)
		case "b":
			e.B = Opt(s, s.Bool)
		case "i":
			e.I = Opt(s, s.Int32)
		case "l":
			e.L = Opt(s, s.Int64)
		case "f":
			e.F = Opt(s, s.Float64)
		case "d":
			e.D = Opt(s, s.Decimal)
		case "t":
			e.T = Opt(s, s.Time)
		case "es":
			e.ES = Opt(s, func() time.Time { return s.Epoch(time.Second) })
		case "em":
			e.EM = Opt(s, func() time.Time { return s.Epoch(time.Millisecond) })
		case "eu":
			e.EU = Opt(s, func() time.Time { return s.Epoch(time.Microsecond) })
		case "en":
			e.EN = Opt(s, func() time.Time { return s.Epoch(time.Nanosecond) })
		case "lt":
			e.LT = Opt(s, s.LocalTime)
		case "day":
			e.Day = Opt(s, s.Date)
		case "days":
			e.Days = Opt(s, s.EpochDays)
		case "x":
			e.X = OptSlice(s, s.Bytes)
		case "j":
			e.J = OptSlice(s, s.JSON)
		case "e":
			e.E = OptEnum(s, colors)
		default:
			s.Skip()
		}
	}
}

// decodeKinds decodes one document as a borrowing and as an owning plan would; both must
// agree.
func decodeKinds(in string) (kinds, error) {
	var s Scanner
	var e kinds
	s.Reset(&wire.Message{Value: []byte(in)})
	e.decode(&s)
	return e, s.Finish("Kinds")
}
