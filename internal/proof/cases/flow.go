package cases

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// cellText writes a value of the form of package oracle.
func cellText(value string) string {
	switch {
	case strings.HasPrefix(value, `\x`):
		raw, _ := hex.DecodeString(value[2:])
		if isDocument(raw) {
			return flow(raw)
		}
		return scalarText(base64.StdEncoding.EncodeToString(raw))
	case value == "NULL":
		return "null"
	case json.Valid([]byte(value)):
		return flow([]byte(value))
	}
	return scalarText(value)
}

// block writes JSON as flow does, an object that is long with a line for each member.
func block(text []byte) string {
	short := flow(text)
	var members map[string]json.RawMessage
	if len(short) < 80 || json.Unmarshal(text, &members) != nil {
		return " " + short
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	_, _ = in.Token() // {
	var b strings.Builder
	for in.More() {
		name, _ := in.Token()
		b.WriteString("\n      " + scalarText(name.(string)) + ": " + flowValue(in))
	}
	return b.String()
}

// flow writes JSON as YAML on one line, with as few quotes as it reads the same.
func flow(text []byte) string {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	return flowValue(in)
}

func flowValue(in *json.Decoder) string {
	token, err := in.Token()
	if err != nil {
		return "null" // the text was valid
	}
	switch v := token.(type) {
	case json.Delim:
		var parts []string
		for in.More() {
			name := ""
			if v == '{' {
				token, _ = in.Token()
				name = scalarText(token.(string)) + ": "
			}
			parts = append(parts, name+flowValue(in))
		}
		_, _ = in.Token() // the end
		return string(v) + strings.Join(parts, ", ") + map[json.Delim]string{'{': "}", '[': "]"}[v]
	case string:
		if number.MatchString(v) {
			return strconv.QuoteToGraphic(v)
		}
		return scalarText(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(token)
}

// plainText is a text that YAML takes for itself without quotes, in a list or a map too.
var plainText = regexp.MustCompile(`^[A-Za-z0-9/]([A-Za-z0-9_./@+ -]|:[A-Za-z0-9_./@+-])*$`)

var otherThanText = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n)$`)

func scalarText(text string) string {
	if plainText.MatchString(text) && !otherThanText.MatchString(text) && !strings.HasSuffix(text, " ") {
		return text
	}
	return strconv.QuoteToGraphic(text)
}
