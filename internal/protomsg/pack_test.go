package protomsg_test

import (
	"strings"
	"testing"
)

// Values take the form of their fields wherever they stand: numbers for texts, in lists, maps and
// messages too. What no field has is left out.
func TestWhatIsPackedTakesTheFormOfItsField(t *testing.T) {
	is := typeOf(t, "shop.v1.Order", false)
	for text, want := range map[string][]string{
		`{"id":7,"code":7.50,"paid":{"amount":9.90}}`:            {`"id":"7"`, `"code":"7.50"`, `"event":"paid","paid":{"amount":"9.90"}`},
		`{"lines":[{"sku":12,"qty":1},{"sku":"a","more":true}]}`: {`"lines":[{"sku":"12","qty":1},{"sku":"a","qty":0}]`},
		`{"counts":{"a":1},"channel":"CHANNEL_WEB"}`:             {`"channel":"CHANNEL_WEB"`, `"counts":{"a":1}`},
		`{"event":"paid","unknown":[1]}`:                         {`"id":""`},
	} {
		packed, err := is.Pack([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		opened, err := is.Open(nil, packed)
		for _, member := range want {
			if err != nil || !strings.Contains(string(opened), member) {
				t.Errorf("%s is opened as %s, %v, want %s", text, opened, err, member)
			}
		}
	}
	for text, says := range map[string]string{
		`[]`: "message shop.v1.Order is a JSON object", `{`: "unexpected EOF", `{"channel":"CHANNEL_TV"}`: `channel: "CHANNEL_TV" is not one of shop.v1.Channel`,
		`{"cents":"x"}`: "invalid value", `{"lines":[{"qty":"x"}]}`: "invalid value",
	} {
		if packed, err := is.Pack([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v, want %s", text, packed, err, says)
		}
	}
}
