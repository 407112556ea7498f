package wire

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

type contact struct {
	Kind  string
	Phone string
}

func (v contact) Format(f fmt.State, verb rune) { Format(f, verb, v, "Phone") }

type opened struct {
	ID       int
	Email    string
	Nick     *string
	Contact  contact
	Contacts []contact
	Maybe    *contact
}

func (v opened) Format(f fmt.State, verb rune) { Format(f, verb, v, "Email", "Nick") }
func (v opened) LogValue() slog.Value          { return LogValue(v) }

// However an event is printed, no sensitive value of it is in the text, nor one of what it holds;
// the others are.
func TestSensitiveFieldsAreInNoText(t *testing.T) {
	nick := "secret-nick"
	e := opened{7, "secret@example.com", &nick, contact{"home", "secret-1"}, []contact{{"work", "secret-2"}}, &contact{"other", "secret-3"}}
	texts := map[string]string{"an error": fmt.Errorf("no account for %v: %w", e, errors.New("x")).Error(), "Sprint": fmt.Sprint(e), "Sprintln of a pointer": fmt.Sprintln(&e)}
	for _, verb := range "vsqdxXtTfe" { // of %p, which go vet refuses, package fmt asks no method
		for _, flags := range []string{"", "+", "#", "-20", "0", " "} {
			form := "%" + flags + string(verb)
			texts[form] = fmt.Sprintf(form, e)
			texts[form+" of a pointer"] = fmt.Sprintf(form, &e)
			texts[form+" of a list"] = fmt.Sprintf(form, []any{e, e.Contacts, e.Maybe})
			texts[form+" of a map"] = fmt.Sprintf(form, map[string]opened{"a": e})
		}
	}
	var out bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("opened", "event", e, "pointer", &e, slog.Group("g", "event", e))
	}
	texts["slog"] = out.String()
	for how, text := range texts {
		leak := strings.ToLower(text)
		if strings.Contains(leak, "secret") || strings.Contains(leak, fmt.Sprintf("%x", "secret")) {
			t.Errorf("%s: %s", how, text)
		}
	}
	for form, want := range map[string]string{
		"%v":  "{ID:7 Email:[sensitive] Nick:[sensitive] Contact:{Kind:home Phone:[sensitive]} Contacts:[{Kind:work Phone:[sensitive]}] Maybe:{Kind:other Phone:[sensitive]}}",
		"%#v": `wire.opened{ID:7, Email:[sensitive], Nick:[sensitive], Contact:wire.contact{Kind:"home", Phone:[sensitive]}, Contacts:[]wire.contact{wire.contact{Kind:"work", Phone:[sensitive]}}, Maybe:wire.contact{Kind:"other", Phone:[sensitive]}}`,
	} {
		if got := fmt.Sprintf(form, e); got != want {
			t.Errorf("%s: %s\nwant %s", form, got, want)
		}
	}
}
