package strictjson

import (
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Decimals as Debezium writes them with decimal.handling.mode=precise, whose default it is.
func TestDecimalsOfDebeziumAreRead(t *testing.T) {
	scaled := func(scale int64) func(*Scanner) wire.Decimal {
		return func(s *Scanner) wire.Decimal { return s.DecimalBytes(scale) }
	}
	structured := (*Scanner).DecimalStruct
	const notBytes, notStruct = "must be base64 of a big-endian integer", "must be an object with scale, an integer, and value, base64 of a big-endian integer"
	for _, c := range []struct {
		read        func(*Scanner) wire.Decimal
		value, want string
	}{
		{scaled(2), `"BNg="`, "12.40"},
		{scaled(2), `"+yg="`, "-12.40"},
		{scaled(0), `"BNg="`, "1240"},
		{scaled(4), `"BQ=="`, "0.0005"},
		{scaled(4), `"+w=="`, "-0.0005"},
		{scaled(2), `"AA=="`, "0.00"},
		{scaled(2), `"/w=="`, "-0.01"},
		{scaled(2), `"AIA="`, "1.28"},
		{scaled(2), `"gA=="`, "-1.28"},
		{scaled(2), `"f/////////8="`, "92233720368547758.07"},
		{scaled(2), `"gAAAAAAAAAA="`, "-92233720368547758.08"},
		{scaled(2), `"AIAAAAAAAAAA"`, "92233720368547758.08"},
		{scaled(2), `"/3////////////8="`, "-6044629098073145873530.89"},
		{structured, `{"scale":2,"value":"BNg="}`, "12.40"},
		{structured, `{"value":"+yg=","scale":0}`, "-1240"},
		{structured, ` { "scale" : -3 , "value" : "BQ==" } `, "5000"},
		{structured, `{"scale":-3,"value":"AA=="}`, "0"},

		{scaled(2), `"12.40"`, notBytes}, {scaled(2), `12.40`, notBytes}, {scaled(2), `""`, "has no digits: the integer has no bytes"},
		{scaled(2), `{"scale":2,"value":"BNg="}`, notBytes}, {scaled(2), "null", "must not be null"},
		{structured, `"BNg="`, notStruct}, {structured, `{"value":"BNg="}`, notStruct}, {structured, `{"scale":2}`, notStruct},
		{structured, `{"scale":"2","value":"BNg="}`, notStruct}, {structured, `{"scale":2,"value":"12.40"}`, notStruct},
		{structured, `{"scale":2,"scale":3,"value":"BNg="}`, notStruct}, {structured, `{"scale":2,"value":null}`, notStruct},
		{structured, `{"scale":1001,"value":"BNg="}`, "has more than 1000 digits"}, {structured, `{"scale":-999,"value":"BNg="}`, "has more than 1000 digits"},
	} {
		var s Scanner
		s.Reset((&wire.Message{Value: []byte(c.value)}).Unpacked([]byte(c.value), nil))
		got := c.read(&s).String()
		if err := s.Finish("E"); err != nil {
			got, c.want = err.Error(), "decode: E: the unpacked payload "+c.want
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.value, got, c.want)
		}
	}
}
