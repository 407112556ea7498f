package generated_test

import (
	"strings"
	"testing"

	"github.com/idemgen/idemgen/internal/proof/oracle"
)

// movedValue is a payload of event Moved, which is fine: strict, below data.after.to. The
// event holds the whole of it, too, so that broken text is told of the whole.
const movedValue = `{"data":{"after":{"to":{"placeName":"Rome","place":{"code":7}}}},"source":{"tsUs":1700000000000000}}`

// badPayloads are what producers send by mistake: the event, its payload, and the dead letter that
// it becomes; "" is fine.
var badPayloads = []struct{ name, event, value, want string }{
	{"nothing wrong", "Moved", movedValue, ""},
	{"zero bytes", "Moved", "", "decode the payload"},
	{"only space", "Moved", " \n\t", "decode the payload"},
	{"a second document", "Moved", movedValue + movedValue, "decode the payload"},
	{"text behind it", "Moved", movedValue + "x", "decode the payload"},
	{"space behind it", "Moved", movedValue + " \r\n", ""},
	{"a byte order mark", "Moved", "\ufeff" + movedValue, "decode the payload"},
	{"UTF-16", "Moved", "\xff\xfe{\x00}\x00", "decode the payload"},
	{"another root", "Moved", "[" + movedValue + "]", "decode the payload"},
	{"a root that is null", "Moved", "null", "decode the payload"},
	{"bytes that are no UTF-8", "Moved", strings.Replace(movedValue, "Rome", "R\xffme", 1), "decode the payload"},
	{"half a surrogate pair", "Moved", strings.Replace(movedValue, "Rome", `R\ud83dme`, 1), "decode the payload"},
	{"a whole surrogate pair", "Moved", strings.Replace(movedValue, "Rome", `R\ud83d\ude00me`, 1), ""},
	{"U+0000", "Moved", strings.Replace(movedValue, "Rome", `R\u0000me`, 1), "decode the payload"},
	{"a member twice", "Moved", strings.Replace(movedValue, `"placeName":"Rome"`, `"placeName":"Rome","placeName":"Rome"`, 1), "decode data.after.to.placeName"},
	{"a member twice, once in escapes", "Moved", strings.Replace(movedValue, `"placeName":"Rome"`, `"placeName":"Rome","place\u004eame":"x"`, 1), "decode data.after.to.placeName"},
	{"a member in another case", "Moved", strings.Replace(movedValue, `"placeName"`, `"PlaceName"`, 1), "decode data.after.to.placeName"},
	{"a member that nobody declared", "Moved", strings.Replace(movedValue, `"code":7`, `"code":7,"zip":"1"`, 1), ""},
	{"a required member that is missing", "Moved", strings.Replace(movedValue, `"placeName":"Rome",`, ``, 1), "decode data.after.to.placeName"},
	{"null for a required member", "Moved", strings.Replace(movedValue, `"Rome"`, `null`, 1), "decode data.after.to.placeName"},
	{"null for an optional member", "Moved", strings.Replace(movedValue, `7`, `null`, 1), ""},
	{"a number for text", "Moved", strings.Replace(movedValue, `"Rome"`, `5`, 1), "decode data.after.to.placeName"},
	{"a number for an object", "Moved", strings.Replace(movedValue, `{"code":7}`, `5`, 1), "decode data.after.to.place"},
	{"an integer in digits", "Moved", strings.Replace(movedValue, `7`, `"7"`, 1), ""},
	{"a fraction for an integer", "Moved", strings.Replace(movedValue, `7`, `7.0`, 1), "decode data.after.to.place.code"},
	{"an exponent for an integer", "Moved", strings.Replace(movedValue, `7`, `7e0`, 1), "decode data.after.to.place.code"},
	{"2^31 for an int32", "Moved", strings.Replace(movedValue, `7`, `2147483648`, 1), "decode data.after.to.place.code"},
	{"seconds for microseconds", "Moved", strings.Replace(movedValue, `1700000000000000`, `1700000000`, 1), "decode source.tsUs"},
	{"2^53+1", "Defaults", `{"big":9007199254740993}`, ""},
	{"2^63", "Defaults", `{"big":9223372036854775808}`, "decode big"},
	{"10^400", "Defaults", `{"ratio":1e400}`, "decode ratio"},
	{"a decimal of 40 digits", "Defaults", `{"amount":1234567890123456789012345678901234567890}`, ""},
	{"a decimal of 1001 digits", "Defaults", `{"amount":` + strings.Repeat("9", 1001) + `}`, "decode amount"},
	{"NaN", "Defaults", `{"ratio":NaN}`, "decode ratio"},
	{"a number that ends with its point", "Defaults", `{"ratio":1.}`, "decode ratio"},
	{"an enum's text that is not listed", "Defaults", `{"colour":"blue"}`, "decode colour"},
	{"an enum's text in another case", "Defaults", `{"colour":"Red"}`, "decode colour"},
	{"a day that is none", "Defaults", `{"when":{"day":"2026-02-30"}}`, "decode when.day"},
	{"a time without zone", "Defaults", `{"when":{"at":"2026-01-31T12:00:00"}}`, "decode when.at"},
	{"base64 of another alphabet", "Defaults", `{"raw":"-_-_"}`, "decode raw"},
	{"SQL in a text", "Defaults", `{"text":"'; drop table seen; --"}`, ""},
	{"lines in a text", "Defaults", `{"text":"a\nlevel=ERROR msg=fake"}`, ""},
	{"a null among elements", "Nested", `{"points":[null]}`, "decode points[0]"},
	{"a wrong element deep inside", "Nested", `{"tree":[{"n":1,"more":[{"s":"x","seen":{"at":"no"}}]}]}`, "decode tree[0].more[0].seen.at"},
	{"a name twice in a map", "Nested", `{"amounts":{"secret":1,"secret":2}}`, "decode amounts"},
	{"a wrong value in a map", "Nested", `{"lists":{"secret":["2026-13-01"]}}`, "decode lists"},
	{"nested too deep", "Nested", `{"anything":{"a":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}}`, "decode anything"},
}

// What a producer sends by mistake has a meaning, or it is a dead letter that names its place.
func TestBadPayloadsAreDeadLettersThatNameTheirPlace(t *testing.T) {
	s := decodersSpec(t)
	for _, c := range badPayloads {
		t.Run(c.name, func(t *testing.T) {
			for _, topic := range s.Topics {
				for _, e := range topic.Events {
					if e.GoName != c.event {
						continue
					}
					r := oracle.Record{Topic: topic.Name, Value: []byte(c.value), Headers: headers(e, 0, nil)}
					if _, out := oracle.New(s).Decode(r); out.DeadLetter() != c.want {
						t.Errorf("%q, want %q", out.DeadLetter(), c.want)
					}
					agree(t, oracle.New(s), e, r)
				}
			}
		})
	}
}

// A payload that ends too early is a dead letter wherever it ends.
func TestPayloadsThatEndEarlyAreRefusedAtEachByte(t *testing.T) {
	s := decodersSpec(t)
	e := s.Topics[1].Events[1]
	for end := range len(movedValue) {
		r := oracle.Record{Topic: e.Topic.Name, Value: []byte(movedValue[:end]), Headers: headers(e, 0, nil)}
		if _, out := oracle.New(s).Decode(r); out.Class != oracle.ClassDecode {
			t.Errorf("%q: %v", movedValue[:end], out)
		}
		agree(t, oracle.New(s), e, r)
	}
}
