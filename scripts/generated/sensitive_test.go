package generated_test

import (
	"fmt"
	"strings"
	"testing"

	profiles "github.com/idemgen/idemgen/testdata/golden/accepted/gdpr_erasure"
)

// Whatever a handler prints of an event as a whole, sensitive fields and members of sensitive
// types are not in it, at any depth; the others are.
func TestPrintedEventsHideWhatIsSensitive(t *testing.T) {
	phone := "secret-phone"
	saved := profiles.ProfileSaved{
		Email: []byte("secret@example.com"), DisplayName: "secret-name", Phone: &phone, Level: 41,
		Holder: &profiles.Person{GivenName: "secret-given", FamilyName: "secret-family"},
	}
	seen := profiles.DevicesSeen{Devices: []profiles.Device{{Model: "tablet", Token: "secret-token"}}}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{saved, &saved, saved.Holder, seen, seen.Devices, seen.Devices[0]} {
			if text := fmt.Sprintf(form, v); strings.Contains(text, "secret") || !strings.Contains(text, "[sensitive]") {
				t.Errorf("%s: %s", form, text)
			}
		}
		if text := fmt.Sprintf(form, saved) + fmt.Sprintf(form, seen); !strings.Contains(text, "41") && form != "%s" || !strings.Contains(text, "tablet") {
			t.Errorf("%s hides too much: %s", form, text)
		}
	}
}
