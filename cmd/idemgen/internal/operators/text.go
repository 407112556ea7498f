package operators

import (
	"bytes"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/idemgen/idemgen/cmd/idemgen/internal/command"
	"github.com/idemgen/idemgen/internal/operate"
)

//go:embed text
var texts embed.FS

// pages are what the commands print for people.
var pages = command.NewPages(texts, template.FuncMap{
	"age": operate.Age, "ownerless": operate.Ownerless, "state": stateOf, "lag": lagOf, "missing": missing, "advice": advice,
	"bytes": bytesText, "recordKey": keyText, "raw": rawText, "payload": payloadText, "short": short, "nano": func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	"split": func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) },
})

// short cuts what a list shows of a reason; dead show has all of it.
func short(text string) string {
	if r := []rune(text); len(r) > 240 {
		return string(r[:240]) + " ..."
	}
	return text
}

// keyText shows a record key. If that cannot be given back as it is, its bytes are beside it.
func keyText(v *operate.Bytes) string {
	if v == nil {
		return "none"
	}
	name := operate.KeyName(v.Raw())
	if v.Text == nil || name == command.Quote(*v.Text) {
		return name
	}
	return command.Quote(*v.Text) + " (hex:" + hex.EncodeToString(v.Raw()) + ")"
}

// rawText shows the result of an effect, which is JSON and can be given to --result.
func rawText(v *operate.Bytes) string {
	if v.Text == nil {
		return bytesText(v)
	}
	return *v.Text
}

// bytesText shows a header's value, or what a provider answered.
func bytesText(v *operate.Bytes) string {
	switch {
	case v == nil:
		return "none"
	case v.Text == nil:
		return "hex:" + v.Hex
	}
	return command.Quote(*v.Text)
}

// mostHex is how much of a payload that is no text is shown; --raw writes all of it.
const mostHex = 4096

// payloadText shows a payload: JSON is indented.
func payloadText(v *operate.Bytes, decoded string) string {
	var indented bytes.Buffer
	raw, kind := v.Raw(), "text"
	body := string(raw)
	switch {
	case decoded != "":
		kind, body = "decoded as the spec says", decoded
	case v.Text == nil && len(raw) > mostHex:
		kind, body = fmt.Sprintf("not text; its first %d", mostHex), hex.Dump(raw[:mostHex])
	case v.Text == nil:
		kind, body = "no text", hex.Dump(raw)
	case json.Indent(&indented, raw, "", "  ") == nil:
		kind, body = "JSON", indented.String()
	}
	return fmt.Sprintf("%d bytes, %s\n\n%s\n", len(raw), kind, strings.TrimRight(body, "\n"))
}
