package vault

import (
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	idem "github.com/idemgen/idemgen/runtime"
	"github.com/idemgen/idemgen/runtime/wire"
)

// sealed is a text as codec Secret reads it.
func sealed(nonce, text string) string {
	return nonce + "." + base32.StdEncoding.EncodeToString([]byte(text))
}

// person is a record of a person who joins. Its secrets have a nonce.
func person(nonce string) idem.Message {
	value := fmt.Sprintf(`{"email": %q, "phone": null, "balance": {"units": 1, "nanos": 500000000},
		"address": {"street": %q, "lines": [%q, %q], "floor": {"units": 3}}, "aliases": [%q], "limits": {"alice": {"units": 7}},
		"seen_at": [1767225600, 1234567], "blob": "0001", "note": %q, "version": 1}`,
		sealed(nonce, "alice"), sealed(nonce, "High Street"), sealed(nonce, "a"), sealed(nonce, "b"), sealed(nonce, "al"), sealed(nonce, `{"vip": true}`))
	return idem.Message{Topic: "people.v1", Key: []byte("00000000-0000-4000-8000-000000000001"), Value: []byte(value), Headers: []wire.Header{
		{Name: "event-type", Value: []byte("joined")}, {Name: "tenant", Value: []byte(sealed(nonce, "acme"))},
	}}
}

// added is what becomes of records in one batch of the plan.
func added(codecs Codecs, records ...idem.Message) (outcome wire.Outcome, err error) {
	batch := wire.NewBatch(peopleV1Topic(Service{}, codecs).NewPlan())
	batch.Reset(nil)
	for i := range records {
		if outcome, err = batch.Add(&records[i], &wire.FailurePolicy{}); err != nil {
			return 0, err
		}
	}
	return outcome, nil
}

func TestCodecsReadValuesWhereverTheyAre(t *testing.T) {
	m := person("x")
	e, err := DecodeJoined(m, ServiceCodecs{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(e.Email, e.Phone, e.Balance, e.Address.Street, e.Address.Lines, *e.Address.Floor, e.Aliases, e.Limits, e.SeenAt, e.Blob, string(e.Note), e.Tenant)
	const want = `alice <nil> 1.500000000 High Street [a b] 3.000000000 [al] map[alice:7.000000000] 2026-01-01 00:00:00.001234 +0000 UTC [0 1] {"vip": true} acme`
	if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m.Value = []byte(strings.Replace(string(m.Value), `"0001"`, `""`, 1))
	if e, err = DecodeJoined(m, ServiceCodecs{}); err != nil || e.Blob == nil {
		t.Errorf("nil of a codec became NULL (%v)", err)
	}
}

// What a codec refuses, panics over, or makes that no column can hold, is a decode error with the
// field's place. It holds neither the value nor what the codec says of it.
func TestWhatACodecRefusesIsADecodeError(t *testing.T) {
	m := person("x")
	for _, c := range []struct{ old, new, want string }{
		{`"email": "x.`, `"email": "x`, `email is refused by the codec of type "Secret" (at byte 10)`},
		{`"lines": ["`, `"lines": ["#`, ``},
		{`"phone": null`, `"phone": "none"`, `phone is refused by the codec of type "Secret" (at byte 33)`},
		{`"units": 3`, `"units": "secret"`, `address.floor is refused by the codec of type "Amount"`},
		{`"nanos": 500000000`, `"nanos": -7`, `balance is refused by the codec of type "Amount"`},
		{`{"units": 7}`, `{"units": "secret"}`, `limits is refused by the codec of type "Amount"`},
		{`["x.ME`, `["ME`, `address.lines[0] is refused by the codec of type "Secret"`},
		{sealed("x", "alice"), sealed("x", "a\x00"), `email is decoded to a value that holds U+0000`},
		{sealed("x", "alice"), sealed("x", "\xff"), `email is decoded to a value that is not valid UTF-8`},
		{sealed("x", `{"vip": true}`), sealed("x", `{"secret": }`), `note is decoded to JSON that is not valid JSON`},
		{`[1767225600, 1234567]`, `[253402300800, 0]`, `seen_at is decoded to a value that is out of range`},
		{`"balance": {`, `"balance": null, "b": {`, `balance must not be null`},
	} {
		value := strings.Replace(string(m.Value), c.old, c.new, 1)
		if !json.Valid([]byte(value)) || value == string(m.Value) {
			t.Fatalf("%s gives %s", c.old, value)
		}
		refused := m
		refused.Value = []byte(value)
		_, err := DecodeJoined(refused, ServiceCodecs{})
		_, planned := added(ServiceCodecs{}, refused)
		if c.want == "" {
			if err != nil || planned != nil {
				t.Errorf("%s: %v, %v", c.new, err, planned)
			}
			continue
		}
		var decode *wire.DecodeError
		if !errors.As(err, &decode) || !strings.HasPrefix(err.Error(), "decode: Joined: "+c.want) || planned == nil || planned.Error() != err.Error() {
			t.Errorf("%s: got %v, and of the plan %v, want %s", c.new, err, planned, c.want)
		}
	}
	m.Headers[1].Value = []byte("no nonce")
	if _, err := added(ServiceCodecs{}, m); err == nil || err.Error() != `decode: Joined: header tenant is refused by the codec of type "Secret"` {
		t.Errorf("a header: %v", err)
	}
}

// Content is the value: copies under another nonce are the same, and other values are a conflict.
func TestCopiesThatAreEncryptedAnewAreCopies(t *testing.T) {
	if outcome, err := added(ServiceCodecs{}, person("x"), person("y")); err != nil || outcome != wire.Resent {
		t.Errorf("a copy with another nonce: %v, %v", outcome, err)
	}
	other := person("y")
	other.Value = []byte(strings.Replace(string(other.Value), sealed("y", "alice"), sealed("y", "bob"), 1))
	var conflict *wire.ConflictError
	if _, err := added(ServiceCodecs{}, person("x"), other); !errors.As(err, &conflict) {
		t.Errorf("another value: %v", err)
	}
}

// unwritten has a codec that nobody has written yet.
type unwritten struct{ ServiceCodecs }

func (unwritten) Moment([]byte) (time.Time, error) {
	return time.Time{}, fmt.Errorf("Moment: %w", idem.ErrNotImplemented)
}

// A record whose codec is not there halts its partition: as a dead letter it would be lost.
func TestACodecThatIsNotThereHalts(t *testing.T) {
	for name, c := range map[string]struct {
		codecs Codecs
		want   string
	}{
		"not implemented": {unwritten{}, `seen_at is read by the codec of type "Moment", which is not implemented`},
		"not passed":      {nil, `email is read by the codec of type "Secret", but NewConsumer got no Codecs`},
	} {
		_, err := added(c.codecs, person("x"))
		var stop *wire.StopError
		if !errors.As(err, &stop) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(err.Error(), "1767225600") || strings.Contains(err.Error(), sealed("x", "alice")) {
			t.Errorf("%s: the error holds a value: %v", name, err)
		}
	}
}

// A patch is read by its codec if it is there, and a header that may be missing is not.
func TestCodecsReadPatches(t *testing.T) {
	m := person("x")
	m.Headers[0].Value = []byte("changed")
	m.Headers = append(m.Headers, wire.Header{Name: "seen-at", Value: []byte("[1767225600, 0]")})
	m.Value = []byte(`{"email": "` + sealed("x", "alice") + `", "phone": null, "version": 2}`)
	e, err := DecodeChanged(m, ServiceCodecs{})
	if err != nil || e.Email.Value != "alice" || e.Phone.State != wire.PatchNull || !e.SeenAt.Equal(time.Unix(1767225600, 0)) {
		t.Errorf("%+v, %v", e, err)
	}
	m.Value = []byte(`{"blob": "0a0b", "version": 2}`)
	if _, err := added(ServiceCodecs{}, m); err != nil || string(m.Value) != `{"blob": "0a0b", "version": 2}` {
		t.Errorf("a codec that overwrites what it gets: %v, and the record is %s", err, m.Value)
	}
	m.Value = []byte(`{"email": "x", "version": 2}`)
	if _, err := added(ServiceCodecs{}, m); err == nil || !strings.Contains(err.Error(), `email is refused by the codec of type "Secret"`) {
		t.Errorf("a patch that is refused: %v", err)
	}
}
