package protomsg_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/idemgen/idemgen/internal/gen/protofile"
	"github.com/idemgen/idemgen/internal/protomsg"
)

const wideFields = `
  S string id = 1;
  S int32 i = 2;
  S uint32 u = 3;
  S sint32 s = 4;
  S bool b = 5;
  S Color color = 6;
  S fixed64 f = 7;
  repeated Color colors = 8;
  map<string, Color> by_name = 9;
  map<int32, bool> by_number = 10;
  map<bool, In> by_flag = 11;
  oneof event { In placed = 12; string paid = 13; }
  S In in = 14;
  repeated In all = 15;
  S google.protobuf.Timestamp at = 16;
  S google.protobuf.Int32Value boxed = 17;
  S google.protobuf.Any held = 18;
  S google.protobuf.Struct free = 19;
}
`

const wideFile = `package w;
import "google/protobuf/any.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message M {` + wideFields + `
message In { S int32 n = 1; R string must = 2; }
enum Color { NONE = 0; RED = 1; LOW = -1; }
`

// syntaxes are files with the same messages. Fields of the last one would be groups if the file's
// feature held for maps, too.
var syntaxes = map[string]string{
	"proto2":  "syntax = \"proto2\";\n" + strings.NewReplacer("S ", "optional ", "R ", "required ").Replace(wideFile),
	"proto3":  "syntax = \"proto3\";\n" + strings.NewReplacer("S ", "optional ", "R ", "optional ").Replace(wideFile),
	"edition": "edition = \"2023\";\noption features.message_encoding = DELIMITED;\n" + strings.NewReplacer("S ", "", "R string must = 2", "string must = 2 [features.field_presence = LEGACY_REQUIRED]").Replace(wideFile),
}

func varint(n protowire.Number, v int64) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(v)))
}

func bytesOf(n protowire.Number, v string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), v))
}

func group(n protowire.Number, v string) string {
	return string(protowire.AppendTag(nil, n, protowire.StartGroupType)) + v + string(protowire.AppendTag(nil, n, protowire.EndGroupType))
}

// A field of another wire type, or of more bits than the schema gives it, is refused where it is,
// at every depth, and nothing else of the message is: a field that nobody reads fails no record.
func TestFieldsThatTheWireHasOtherwise(t *testing.T) {
	const (
		id      = "\x0a\x01a"
		head    = `{"id":"a",`
		wide    = `"\ud800 has more than the 32 bits that the schema gives it"`
		typed   = `"\ud800 has another wire type than the schema gives it"`
		noBool  = `"\ud800 is a boolean that is neither 0 nor 1"`
		unclear = `"\ud800 has a member that has another wire type than the schema gives it"`
		within  = `"\ud800 holds a value that has `
		far     = 1<<32 + 1
	)
	for syntax, source := range syntaxes {
		message := bytesOf
		if syntax == "edition" {
			message = group
		}
		any := func(url, value string) string { return message(18, bytesOf(1, "/"+url)+bytesOf(2, value)) }
		rows := []struct{ name, wire, want string }{
			{"an enum number", varint(6, 1), `"color":"RED"`},
			{"a negative one", varint(6, -1), `"color":"LOW"`},
			{"one without a name", varint(6, 7), `"color":7`},
			{"an enum number of 33 bits", varint(6, far), `"color":` + wide},
			{"a negative one of 33 bits", varint(6, -far), `"color":` + wide},
			{"enum numbers in a list", varint(8, 1) + varint(8, far), `"colors":["RED",` + wide + `]`},
			{"packed ones", bytesOf(8, "\x01\x81\x80\x80\x80\x10"), `"colors":["RED",` + wide + `]`},
			{"ones in a map", bytesOf(9, bytesOf(1, "k")+varint(2, far)) + bytesOf(9, bytesOf(1, "j")+varint(2, 1)), `"by_name":{"j":"RED","k":` + wide + `}`},
			{"numbers of a map", bytesOf(10, varint(1, far)+varint(2, 1)) + bytesOf(10, varint(1, 2)+varint(2, 1)), `"by_number":{"\ud800 holds a name that has more than the 32 bits that the schema gives it":0,"2":true}`},
			{"the largest of 32 bits", varint(2, 1<<31-1) + varint(3, 1<<32-1), `"i":2147483647,"u":4294967295`},
			{"numbers of fields", varint(2, far) + varint(3, far) + varint(4, 2*far), `"i":` + wide + `,"u":` + wide + `,"s":` + wide},
			{"booleans", varint(5, 1), `"b":true`},
			{"a boolean of another number", varint(5, 2), `"b":` + noBool},
			{"one of a map", bytesOf(10, varint(1, 2)+varint(2, far)), `"by_number":{"2":` + noBool + `}`},
			{"a text for a number", bytesOf(2, "5"), `"i":` + typed},
			{"a number for a text", varint(1, 5), `"id":` + typed},
			{"both", varint(2, 5) + bytesOf(2, "5"), `"i":` + typed},
			{"4 bytes for 8", "\x3d\x01\x00\x00\x00", `"f":` + typed},
			{"a packed list for one number", bytesOf(6, "\x01"), `"color":` + typed},
			{"a text in a list of enums", varint(8, 1) + "\x41\x01\x00\x00\x00\x00\x00\x00\x00", `"colors":` + typed},
			{"a number for a message", varint(14, 5), `"in":` + typed},
			{"a text in a message", message(15, varint(1, 3)) + message(15, bytesOf(1, "x")), `"all":[{"n":3},{"n":` + typed + `}]`},
			{"a number for a map", varint(9, 5), `"by_name":` + typed},
			{"a text for a value of a map", bytesOf(10, varint(1, 2)+bytesOf(2, "x")), `"by_number":{"2":` + typed + `}`},
			{"a text for a name of a map", bytesOf(10, bytesOf(1, "2")+varint(2, 1)), `"by_number":{"\ud800 holds a name that has another wire type than the schema gives it":0}`},
			{"a boolean name of a map", bytesOf(11, varint(1, 1)+bytesOf(2, bytesOf(1, "x"))), `"by_flag":{"true":{"n":` + typed + `}}`},
			{"an entry without value and name", bytesOf(9, ""), `"by_name":{"":"NONE"}`},
			{"an entry without message", bytesOf(11, ""), `"by_flag":{"false":{}}`},
			{"a name that is there twice", bytesOf(10, varint(1, 2)+varint(2, 1)) + bytesOf(10, varint(1, 3)) + bytesOf(10, varint(1, 2)), `"by_number":{"2":false,"3":false}`},
			{"a member of a oneof", varint(13, 5), `"event":` + unclear + `,"paid":` + typed},
			{"two of them", message(12, "") + varint(13, 5), `"event":` + unclear + `,"placed":` + typed + `,"paid":` + typed},
			{"a required field that is missing", message(14, varint(1, 2)), `"in":{"n":2}`},
			{"a time", message(16, varint(1, 1)), `"at":"1970-01-01T00:00:01Z"`},
			{"a time of a text", message(16, bytesOf(1, "1")), `"at":` + within + `another wire type than the schema gives it"`},
			{"a fraction of 33 bits", message(16, varint(2, far)), `"at":` + within + `more than the 32 bits that the schema gives it"`},
			{"a number in a message of 33 bits", message(17, varint(1, far)), `"boxed":` + within + `more than the 32 bits that the schema gives it"`},
			{"one in an Any", any("google.protobuf.UInt32Value", varint(1, far)), `"held":{"@type":"/google.protobuf.UInt32Value","value":` + within + `more than the 32 bits that the schema gives it"}`},
			{"a message in an Any", any("w.In", varint(1, far)), `"held":{"@type":"/w.In","n":` + wide + `}`},
			{"an Any of a number", message(18, varint(1, 1)), `"held":` + within + `another wire type than the schema gives it"`},
			{"a free member", message(19, bytesOf(1, bytesOf(1, "k")+bytesOf(2, varint(4, 1)))), `"free":{"k":true}`},
			{"a free member of another type", message(19, bytesOf(1, bytesOf(1, "k")+bytesOf(2, bytesOf(4, "x")))), `"free":` + within + `another wire type than the schema gives it"`},
			{"a number that the schema does not have", varint(99, 5) + message(14, bytesOf(99, "x")), `"in":{}`},
		}
		set, err := protofile.Compile(func(path string) ([]byte, error) {
			if path == "w.proto" {
				return []byte(source), nil
			}
			return nil, errors.New("no such file")
		}, "w.proto")
		if err != nil {
			t.Fatalf("%s: %v", syntax, err)
		}
		is, err := protomsg.New(set, "w.M", false)
		if err != nil {
			t.Fatalf("%s: %v", syntax, err)
		}
		for _, r := range rows {
			out, why, err := is.OpenWithin(nil, []byte(id+r.wire), 0)
			got := strings.NewReplacer(`"colors":[],`, "", `"by_name":{},`, "", `"by_number":{},`, "", `"by_flag":{},`, "", `"all":[],`, "",
				`,"colors":[]`, "", `,"by_name":{}`, "", `,"by_number":{}`, "", `,"by_flag":{}`, "", `,"all":[]`, "").Replace(string(out))
			full := head + r.want + "}"
			if strings.HasPrefix(r.want, `"id"`) {
				full = "{" + r.want + "}"
			}
			if err != nil || got != full {
				t.Errorf("%s: %s: %v\n got %s\nwant %s", syntax, r.name, err, got, full)
			}
			if refused := strings.Count(r.want, `\ud800`); len(why) != refused && r.name != "one without a name" {
				t.Errorf("%s: %s: %d values are refused, want %d", syntax, r.name, len(why), refused)
			}
		}
	}
}
