package strictjson

import (
	"errors"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/wire"
)

// Each kind of mistake is refused with its path and reason.
func TestScannerRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	big := strings.Repeat("9", 1000)
	for _, c := range []struct{ in, want string }{
		// documents
		{``, "the payload is empty"},
		{" \t\r\n", "the payload is empty"},
		{"\ufeff{}", "the payload starts with a byte order mark"},
		{"\xff\xfe{\x00}\x00", "the payload is not valid JSON"},
		{"\x00{\x00}", "the payload is not valid JSON"},
		{`[]`, "the payload must be an object"},
		{`"s"`, "the payload must be an object"},
		{`null`, "the payload must not be null"},
		{`{"s":""} x`, "the payload has data after its end"},
		{`{"s":""}{"s":""}`, "the payload has data after its end"},
		{`{"s":""}` + "\x00", "the payload has data after its end"},
		{`{"s":"",}`, "the payload is not valid JSON"},
		{`{,"s":""}`, "the payload is not valid JSON"},
		{`{"s" ""}`, "the payload is not valid JSON"},
		{`{"s":"" "i":1}`, "the payload is not valid JSON"},
		{`{s:1}`, "the payload is not valid JSON"},
		{`{'s':1}`, "the payload is not valid JSON"},
		{`{"s":""`, "the payload ends too early"},
		{`{"s":"`, "s ends too early"},
		{`{"s":`, "s ends too early"},
		{`{"s`, "the payload ends too early"},
		{`{`, "the payload ends too early"},
		{`{"s":"","z":` + deep(63) + `}`, ""},
		{`{"s":"","z":[` + strings.Repeat("[],{},", 100) + `[]]}`, ""},
		{`{"s":"","z":` + deep(64) + `}`, "the payload is nested too deeply"},
		{`{"s":"","j":` + deep(64) + `}`, "j is nested too deeply"},
		// members
		{`{}`, "s is missing"},
		{`{"S":"a"}`, "s is missing"},
		{`{"s":"","S":"a","\u0053":1}`, ""},
		{`{"s":"a","s":"a"}`, "s occurs twice"},
		{`{"s":"a","\u0073":"a"}`, "s occurs twice"},
		{`{"s":"a","z":1,"z":2}`, ""},
		{`{"s":null}`, "s must not be null"},
		{`{"s":nul}`, "s is not valid JSON"},
		{`{"s":"","objs":[{"price":1},{"price":"x"}]}`, "objs[1].price must be an integer"},
		{`{"s":"","objs":[{"price":1},{"prize":1}]}`, "objs[1].price is missing"},
		{`{"s":"","objs":[{"price":1},7]}`, "objs[1] must be an object"},
		{`{"s":"","objs":[{"price":1},]}`, "objs[1] is not valid JSON"},
		{`{"s":"","objs":[,{"price":1}]}`, "objs[0] is not valid JSON"},
		{`{"s":"","objs":[{"price":1} {"price":1}]}`, "objs[0] is not valid JSON"},
		{`{"s":"","objs":{}}`, "objs must be an array"},
		{`{"s":"","objs":null}`, "objs must not be null"},
		{`{"s":"","o":{"\u0069":"x"}}`, "o.i must be an integer"},
		{`{"s":"","z":{"private":[tru]}}`, "the payload is not valid JSON"},
		{`{"s":"","objs":[{"private":01}]}`, "objs[0] must be a number"},
		{`{"s":"","j":{"private":"\x"}}`, "j holds an escape that JSON does not have"},
		// strings
		{`{"s":1}`, "s must be a string"},
		{`{"s":"\"{[\\","i":"x"}`, "i must be an integer"},
		{`{"s":{}}`, "s must be a string"},
		{"{\"s\":\"a\xff\"}", "s is not valid UTF-8"},
		{"{\"s\":\"\xed\xa0\x80\"}", "s is not valid UTF-8"},
		{"{\"s\":\"\xc0\xaf\"}", "s is not valid UTF-8"},
		{"{\"s\":\"\",\"\xff\":1}", "the payload is not valid UTF-8"},
		{"{\"s\":\"\",\"z\":\"\xff\"}", "the payload is not valid UTF-8"},
		{`{"s":"\ud800"}`, "s holds a lone surrogate"},
		{`{"s":"\udc00\ud800"}`, "s holds a lone surrogate"},
		{`{"s":"\ud800\u0041"}`, "s holds a lone surrogate"},
		{`{"s":"\udc00\udc00"}`, "s holds a lone surrogate"},
		{`{"s":"\ud800\ud800"}`, "s holds a lone surrogate"},
		{`{"s":"a\u0000"}`, "s holds U+0000, which text and jsonb of Postgres cannot hold"},
		{"{\"s\":\"a\x00\"}", "s holds a control character that is not escaped"},
		{"{\"s\":\"a\n\"}", "s holds a control character that is not escaped"},
		{`{"s":"\x41"}`, "s holds an escape that JSON does not have"},
		{`{"s":"\u00g0"}`, "s holds an escape that JSON does not have"},
		{`{"s":"","z":["\u0000","\ud800"]}`, ""},
		{`{"s":"","j":["\u0000","x"]}`, "j holds U+0000, which text and jsonb of Postgres cannot hold"},
		{`{"s":"","j":{"\ud800":"x"}}`, "j holds a lone surrogate"},
		{`{"s":"","j":null}`, "j must not be null"},
		{`{"s":"","e":"blue"}`, "e must be one of the texts of its enum"},
		{`{"s":"","e":"RED"}`, "e must be one of the texts of its enum"},
		{`{"s":"","u":"7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5g"}`, "u must be a UUID of 36 characters"},
		{`{"s":"","u":"gd2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f"}`, "u must be a UUID of 36 characters"},
		{`{"s":"","u":"7d2a1f0e8b7a4c319d520a1b2c3d4e5f"}`, "u must be a UUID of 36 characters"},
		{`{"s":"","u":"{7d2a1f0e-8b7a-4c31-9d52-0a1b2c3d4e5f}"}`, "u must be a UUID of 36 characters"},
		{`{"s":"","u":""}`, "u must be a UUID of 36 characters"},
		{`{"s":"","u":5}`, "u must be a UUID in a string"},
		{`{"s":"","x":"AAE"}`, "x must be base64 with padding"},
		{`{"s":"","x":"AAE=\n"}`, "x must be base64 with padding"},
		{`{"s":"","x":"AAF="}`, "x must be base64 with padding"},
		{`{"s":"","x":"-_8="}`, "x must be base64 with padding"},
		{`{"s":"","x":[1]}`, "x must be base64 in a string"},
		{`{"s":"","b":1}`, "b must be true or false"},
		{`{"s":"","b":"true"}`, "b must be true or false"},
		{`{"s":"","b":True}`, "b is not valid JSON"},
		{`{"s":"","b":truex}`, "the payload is not valid JSON"},
		// integers
		{`{"s":"","i":-0}`, ""},
		{`{"s":"","i":"-0"}`, ""},
		{`{"s":"","i":2147483647}`, ""},
		{`{"s":"","i":2147483648}`, "i is out of range"},
		{`{"s":"","i":"-2147483649"}`, "i is out of range"},
		{`{"s":"","l":9223372036854775807}`, ""},
		{`{"s":"","l":9223372036854775808}`, "l is out of range"},
		{`{"s":"","l":-9223372036854775808}`, ""},
		{`{"s":"","l":-9223372036854775809}`, "l is out of range"},
		{`{"s":"","l":18446744073709551617}`, "l is out of range"},
		{`{"s":"","l":` + big + `}`, "l is out of range"},
		{`{"s":"","i":01}`, "i has a leading zero"},
		{`{"s":"","i":-01}`, "i has a leading zero"},
		{`{"s":"","i":"00"}`, "i has a leading zero"},
		{`{"s":"","i":1.0}`, "i must be an integer"},
		{`{"s":"","i":1e3}`, "i must be an integer"},
		{`{"s":"","i":"1e3"}`, "i must be an integer"},
		{`{"s":"","i":+1}`, "i is not valid JSON"},
		{`{"s":"","i":"+1"}`, "i must be an integer"},
		{`{"s":"","i":" 1"}`, "i must be an integer"},
		{`{"s":"","i":"1 "}`, "i must be an integer"},
		{`{"s":"","i":""}`, "i must be an integer"},
		{`{"s":"","i":-}`, "i must be an integer"},
		{`{"s":"","i":1x}`, "the payload is not valid JSON"},
		{`{"s":"","i":true}`, "i must be an integer"},
		{`{"s":"","i":null}`, "i must not be null"},
		// floats and decimals
		{`{"s":"","f":1e308}`, ""},
		{`{"s":"","f":1e400}`, "f is out of range"},
		{`{"s":"","f":-1e400}`, "f is out of range"},
		{`{"s":"","f":1e-400}`, "f is out of range"},
		{`{"s":"","f":-0.0001e-330}`, "f is out of range"},
		{`{"s":"","f":5e-324}`, ""},
		{`{"s":"","f":-0.00E-400}`, ""},
		{`{"s":"","f":NaN}`, "f is not valid JSON"},
		{`{"s":"","f":"1"}`, "f must be a number"},
		{`{"s":"","f":.5}`, "f is not valid JSON"},
		{`{"s":"","f":5.}`, "f must be a number"},
		{`{"s":"","f":1e}`, "f must be a number"},
		{`{"s":"","f":00}`, "f must be a number"},
		{`{"s":"","f":0x10}`, "the payload is not valid JSON"},
		{`{"s":"","d":` + big + `}`, ""},
		{`{"s":"","d":1` + big + `}`, "d has more than 1000 digits"},
		{`{"s":"","d":1e999}`, ""},
		{`{"s":"","d":1e1000}`, "d has more than 1000 digits"},
		{`{"s":"","d":1e-999}`, ""},
		{`{"s":"","d":1e-1000}`, "d has more than 1000 digits"},
		{`{"s":"","d":1e99999999999999999999}`, "d has more than 1000 digits"},
		{`{"s":"","d":-0e-99999999999999999999}`, "d has more than 1000 digits"},
		{`{"s":"","d":0e99999999999999999999}`, ""},
		{`{"s":"","d":"NaN"}`, "d must be a decimal number"},
		{`{"s":"","d":"1,5"}`, "d must be a decimal number"},
		{`{"s":"","d":"007"}`, "d must be a decimal number"},
		{`{"s":"","d":""}`, "d must be a decimal number"},
		{`{"s":"","d":true}`, "d must be a number"},
		// times
		{`{"s":"","t":"2024-02-30T00:00:00Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2023-02-29T00:00:00Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T00:00:00"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T24:00:00Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T23:59:60Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29 23:59:59Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T23:59:59.Z"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T23:59:59+24:00"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29T23:59:59+01"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"2024-02-29"}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":1700000000}`, "t must be an RFC 3339 time with a zone"},
		{`{"s":"","t":"9999-12-31T23:59:59-00:01"}`, "t is out of range"},
		{`{"s":"","t":"0000-01-01T00:00:00+00:01"}`, "t is out of range"},
		{`{"s":"","es":99964800,"em":99964800000,"eu":99964800000000,"en":99964800000000000}`, ""},
		{`{"s":"","es":99964799}`, "es is out of range: the unit may be wrong"},
		{`{"s":"","es":7258118399,"em":7258118399999,"eu":7258118399999999,"en":7258118399999999999}`, ""},
		{`{"s":"","es":7258118400}`, "es is out of range: the unit may be wrong"},
		{`{"s":"","em":1700000000}`, "em is out of range: the unit may be wrong"},
		{`{"s":"","es":"1700000000"}`, "es must be an integer"},
		{`{"s":"","es":1.7e9}`, "es must be a number of seconds without an exponent"},
		{`{"s":"","es":-274982400}`, "es is out of range: the unit may be wrong"},
		{`{"s":"","es":9223372036825200000}`, "es is infinity, which the type does not have"},
		{`{"s":"","es":-9223372036832400000}`, "es is infinity, which the type does not have"},
		{`{"s":"","t":"infinity"}`, "t is infinity, which the type does not have"},
		{`{"s":"","lt":"2024-02-29T23:59:59Z"}`, "lt must be a local time: YYYY-MM-DDThh:mm:ss without a zone"},
		{`{"s":"","lt":"2024-02-29"}`, "lt must be a local time: YYYY-MM-DDThh:mm:ss without a zone"},
		{`{"s":"","day":"2023-02-29"}`, "day must be a date: YYYY-MM-DD"},
		{`{"s":"","day":"2024-2-9"}`, "day must be a date: YYYY-MM-DD"},
		{`{"s":"","day":"2024-02-29T00:00:00Z"}`, "day must be a date: YYYY-MM-DD"},
		{`{"s":"","day":"0000-13-01"}`, "day must be a date: YYYY-MM-DD"},
		{`{"s":"","days":2932896}`, ""},
		{`{"s":"","days":2932897}`, "days is out of range"},
		{`{"s":"","days":-719529}`, "days is out of range"},
	} {
		_, err := decodeKinds(c.in)
		got := ""
		if de, ok := errors.AsType[*wire.DecodeError](err); ok {
			got = de.Path + " " + de.Reason
			if de.Event != "Kinds" || de.At < 0 || de.At > len(c.in) {
				t.Errorf("%.80s: event %q at %d", c.in, de.Event, de.At)
			}
		}
		if got != c.want {
			t.Errorf("%.80s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// An error tells where the value stands.
func TestErrorPosition(t *testing.T) {
	for _, c := range []struct {
		in string
		at int
	}{
		{`{"s": 7}`, 6},
		{`{"s":"","u":  "x"}`, 14},
		{`{"s":"","z":[tru]}`, 13},
		{`{ }`, 2},
		{`{"s":""`, 7},
	} {
		_, err := decodeKinds(c.in)
		if de, ok := errors.AsType[*wire.DecodeError](err); !ok || de.At != c.at {
			t.Errorf("%s: got %v, want byte %d", c.in, err, c.at)
		}
	}
	if _, err := decodeKinds(`{"s": 7}`); err.Error() != "decode: Kinds: s must be a string (at byte 6)" {
		t.Error(err)
	}
}
