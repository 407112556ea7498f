package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/idemgen/idemgen/runtime/idemtest"
	"github.com/idemgen/idemgen/runtime/wire"
)

// A letter is decided only by a request that says all that it must.
func TestALetterIsDecidedAsConfirmed(t *testing.T) {
	s := troubled(t)
	idemtest.Exec(t, s.db, `UPDATE idem_dead_letter SET reason = 'interrupted: OrderPaid: nobody knows' WHERE offs = 1`)
	const at = "consumer=projector&topic=orders.v1&partition=0&offset="
	for _, c := range []struct{ form, want, asked string }{
		{at + "0&verb=erase&reason=x", `a letter can be replayed or discarded, not "erase"`, "0 0"},
		{at + "0&verb=discard&reason=x", "a discarded letter never takes effect: check the box to confirm", "0 0"},
		{at + "0&verb=replay", "reason", "0 0"},
		{at + "9&verb=replay&reason=x", "no dead letter", "0 0"},
		{at + "0&verb=replay&reason=x&seq=7", "the page shows another letter of this offset", "0 0"},
		{at + "1&verb=replay&reason=x", "say whether the call happened: a replay would repeat it", "0 0"},
		{at + "1&verb=replay&reason=x&happened=perhaps", "say whether the call happened", "0 0"},
		{at + "1&verb=replay&reason=x&happened=yes&result=%7B", "the result of the call must be JSON", "0 0"},
		{at + "0&verb=replay&reason=x&seq=0&topic_id=00000000-0000-4000-8000-000000000001", "", "1 0"},
		{at + "1&verb=replay&reason=x&happened=no", "", "2 0"},
		{at + "2&verb=discard&reason=x&sure=yes", "", "2 1"},
		{at + "2&verb=withdraw&reason=x", "", "2 0"},
	} {
		form, _ := url.ParseQuery(c.form)
		r := s.do(http.MethodPost, "letter", form)
		text := html.UnescapeString(body(t, r))
		if made := r.StatusCode == http.StatusSeeOther; made != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", c.form, r.StatusCode, text)
		}
		if is := s.asked(); is != c.asked {
			t.Errorf("%s: requested are %s, want %s", c.form, is, c.asked)
		}
	}
}

// The page of a letter shows its record as it is stored: the key, each header and the value. Its
// payload can be fetched if there is one, unless something in it is sensitive.
func TestALetterHasItsWholeRecord(t *testing.T) {
	db := database(t)
	id := stream(t, db, 0, 10)
	for n, value := range []string{`{"version": 71}`, ""} {
		message := wire.Message{
			Key: []byte("00000000-0000-4000-8000-0000000000aa"), Value: []byte(value),
			Headers: []wire.Header{{Name: "first", Value: []byte("HEADER-1")}, {Name: "second", Value: []byte("HEADER-2")}, {Name: "third"}},
		}
		if value == "" {
			message.Value = nil
		}
		dead(t, db, id, int64(n), "handler: no", message)
	}
	dead(t, db, id, 2, "handler: no", wire.Message{})
	idemtest.Exec(t, db, `UPDATE idem_stream SET topic = 'payments.v1'; UPDATE idem_dead_letter SET event = 'PaymentMade'; UPDATE idem_dead_letter SET record = NULL WHERE offs = 2`)
	s := open(t, db)
	const at = "consumer=projector&topic=payments.v1&partition=0&offset="
	s.has("record?"+at+"0", "0000000000aa", "first", "HEADER-1", "second", "HEADER-2", "third", "71")
	s.has("record?"+at+"1", "0000000000aa", "first", "HEADER-1", "second", "HEADER-2", "third")
	r := s.do(http.MethodGet, "raw?"+at+"0", nil)
	if text := body(t, r); text != `{"version": 71}` || r.Header.Get("Content-Disposition") != `attachment; filename="letter-0-0.bin"` {
		t.Errorf("the payload is %s, %v", text, r.Header)
	}
	if log := s.log.String(); !strings.Contains(log, `downloaded the payload of a dead letter" user=ana letter="payments.v1/0 offset 0 of projector"`) {
		t.Errorf("the log does not say who read the payload of which letter: %s", log)
	}
	for _, offset := range []string{"1", "2"} {
		if text := body(t, s.do(http.MethodGet, "raw?"+at+offset, nil)); !strings.Contains(text, "there is no payload") {
			t.Errorf("offset %s: %s", offset, text)
		}
	}
	idemtest.Exec(t, db, `UPDATE idem_stream SET topic = 'orders.v1'; UPDATE idem_dead_letter SET event = 'OrderPaid'`)
	if text := body(t, s.do(http.MethodGet, "raw?"+strings.Replace(at, "payments", "orders", 1)+"0", nil)); !strings.Contains(text, "the raw payload is not available") {
		t.Errorf("what is sensitive: %s", text)
	}
}
