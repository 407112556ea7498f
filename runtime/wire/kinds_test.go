package wire

import (
	"encoding/json"
	"time"
)

// kinds has a member of every kind, and an optional one of each.
type kinds struct {
	S    string
	U    UUID
	B    bool
	I    int32
	L    int64
	F    float64
	D    Decimal
	T    time.Time
	ES   time.Time
	EM   time.Time
	EU   time.Time
	EN   time.Time
	LT   LocalTime
	Day  Date
	Days Date
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
	U    *UUID
	B    *bool
	I    *int32
	L    *int64
	F    *float64
	D    *Decimal
	T    *time.Time
	ES   *time.Time
	EM   *time.Time
	EU   *time.Time
	EN   *time.Time
	LT   *LocalTime
	Day  *Date
	Days *Date
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
	var seen Members
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "s":
			seen.Add(s, 0)
			e.S = s.String()
		case "u":
			seen.Add(s, 1)
			e.U = s.UUID()
		case "b":
			seen.Add(s, 2)
			e.B = s.Bool()
		case "i":
			seen.Add(s, 3)
			e.I = s.Int32()
		case "l":
			seen.Add(s, 4)
			e.L = s.Int64()
		case "f":
			seen.Add(s, 5)
			e.F = s.Float64()
		case "d":
			seen.Add(s, 6)
			e.D = s.Decimal()
		case "t":
			seen.Add(s, 7)
			e.T = s.Time()
		case "es":
			seen.Add(s, 8)
			e.ES = s.EpochS()
		case "em":
			seen.Add(s, 9)
			e.EM = s.EpochMS()
		case "eu":
			seen.Add(s, 10)
			e.EU = s.EpochUS()
		case "en":
			seen.Add(s, 11)
			e.EN = s.EpochNS()
		case "lt":
			seen.Add(s, 12)
			e.LT = s.LocalTime()
		case "day":
			seen.Add(s, 13)
			e.Day = s.Date()
		case "days":
			seen.Add(s, 14)
			e.Days = s.EpochDays()
		case "x":
			seen.Add(s, 15)
			e.X = s.Bytes()
		case "j":
			seen.Add(s, 16)
			e.J = s.JSON()
		case "e":
			seen.Add(s, 17)
			e.E = s.Enum(colors)
		case "objs":
			seen.Add(s, 18)
			for s.Array(); s.Element(); {
				var v inner
				v.decode(s)
				e.Objs = append(e.Objs, v)
			}
		case "list":
			seen.Add(s, 19)
			for s.Array(); s.Element(); {
				e.List = append(e.List, s.String())
			}
		case "o":
			seen.Add(s, 20)
			e.O.decode(s)
		default:
			s.Skip()
		}
	}
	seen.Require(s, "s", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "")
}

func (e *inner) decode(s *Scanner) {
	var seen Members
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "price":
			seen.Add(s, 0)
			e.Price = s.Int32()
		default:
			s.Skip()
		}
	}
	seen.Require(s, "price")
}

func (e *optionalKinds) decode(s *Scanner) {
	for s.Object(); s.Member(); {
		switch s.Name() {
		case "s":
			e.S = s.OptString()
		case "u":
			e.U = s.OptUUID()
		case "b":
			e.B = s.OptBool()
		case "i":
			e.I = s.OptInt32()
		case "l":
			e.L = s.OptInt64()
		case "f":
			e.F = s.OptFloat64()
		case "d":
			e.D = s.OptDecimal()
		case "t":
			e.T = s.OptTime()
		case "es":
			e.ES = s.OptEpochS()
		case "em":
			e.EM = s.OptEpochMS()
		case "eu":
			e.EU = s.OptEpochUS()
		case "en":
			e.EN = s.OptEpochNS()
		case "lt":
			e.LT = s.OptLocalTime()
		case "day":
			e.Day = s.OptDate()
		case "days":
			e.Days = s.OptEpochDays()
		case "x":
			e.X = s.OptBytes()
		case "j":
			e.J = s.OptJSON()
		case "e":
			e.E = s.OptEnum(colors)
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
	s.Reset(&Message{Value: []byte(in)})
	e.decode(&s)
	return e, s.Finish("Kinds")
}
