package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// plain are texts that YAML takes as they are, also inside brackets.
var plain = regexp.MustCompile(`^[A-Za-z0-9_/][A-Za-z0-9_ .:+@/-]*$`)

// text writes a text whose place says what it is: in quotes only where YAML needs them.
func text(t string) string {
	broken := strings.Contains(t, ": ") || strings.HasSuffix(t, ":") || strings.HasSuffix(t, " ")
	switch t {
	case "null", "Null", "NULL":
		broken = true
	}
	if broken || !plain.MatchString(t) {
		return quoted(t)
	}
	return t
}

// quoted is a text in quotes, with all escaped that nobody sees.
func quoted(t string) string {
	var b strings.Builder
	for _, c := range quote(t) {
		switch {
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	return b.String()
}

// flow writes JSON on one line as people write YAML: names and texts without quotes where they are
// not needed. Texts that look like something else keep theirs.
func flow(data []byte) string {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out strings.Builder
	if !flowValue(d, &out) {
		return quoted(string(data))
	}
	return out.String()
}

// linesOf are the members of a JSON object, a line each; false if it is none.
func linesOf(data []byte) (lines []string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		var line strings.Builder
		if !flowMember(d, &line) {
			return nil, false
		}
		lines = append(lines, line.String())
	}
	return lines, true
}

func flowMember(d *json.Decoder, out *strings.Builder) bool {
	name, err := d.Token()
	if err != nil {
		return false
	}
	out.WriteString(text(name.(string)) + ": ") // a member's name is a string
	return flowValue(d, out)
}

func flowValue(d *json.Decoder, out *strings.Builder) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	switch v := token.(type) {
	case json.Delim:
		out.WriteString(v.String())
		for first := true; d.More(); first = false {
			if !first {
				out.WriteString(", ")
			}
			if v == '{' && !flowMember(d, out) || v == '[' && !flowValue(d, out) {
				return false
			}
		}
		end, err := d.Token()
		if err != nil {
			return false
		}
		out.WriteString(end.(json.Delim).String()) // More was false: it closes
	case string:
		if v == "true" || v == "false" || number.MatchString(v) {
			out.WriteString(quoted(v))
		} else {
			out.WriteString(text(v))
		}
	case json.Number:
		out.WriteString(v.String())
	case bool:
		out.WriteString(map[bool]string{true: "true", false: "false"}[v])
	default:
		out.WriteString("null")
	}
	return true
}
