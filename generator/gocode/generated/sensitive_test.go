package generated_test

import (
	"fmt"
	"strings"
	"testing"

	accounts "github.com/idemgen/idemgen/testdata/golden/accepted/sensitive_fields"
)

// Whatever a handler prints of an event as a whole, sensitive fields and members of sensitive
// types are not in it, at any depth; the others are.
func TestPrintedEventsHideWhatIsSensitive(t *testing.T) {
	phone := "secret-phone"
	e := accounts.AccountOpened{
		Email: "secret@example.com", Phone: &phone, Level: 41,
		Holder:  accounts.Person{GivenName: "secret-given", FamilyName: "secret-family"},
		Devices: []accounts.Device{{Model: "tablet", Token: "secret-token"}},
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{e, &e, e.Holder, e.Devices, e.Devices[0]} {
			if text := fmt.Sprintf(form, v); strings.Contains(text, "secret") || !strings.Contains(text, "[sensitive]") {
				t.Errorf("%s: %s", form, text)
			}
		}
		if text := fmt.Sprintf(form, e); !strings.Contains(text, "41") && form != "%s" || !strings.Contains(text, "tablet") {
			t.Errorf("%s hides too much: %s", form, text)
		}
	}
}
