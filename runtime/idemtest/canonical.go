package idemtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// canonicalJSON is JSON in the form that package oracle gives them: compact, keys sorted, the
// last of equal keys, numbers plain and with their trailing zeros. Other text stays as it is.
func canonicalJSON(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return text
	}
	return canonical(v)
}

func canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return plain(v.String())
	case string:
		return quoted(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = canonical(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	object := v.(map[string]any)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		parts = append(parts, quoted(name)+":"+canonical(object[name]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quoted is a JSON string without escapes for HTML.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // strings cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// widest is the greatest exponent that is written out.
const widest = 1000

// plain writes a JSON number without exponent, with as many digits after the point as it had.
func plain(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	e, err := strconv.Atoi(strings.TrimPrefix(exponent+"", "+"))
	if exponent == "" {
		e, err = 0, nil
	}
	if err != nil || max(e, -e) > widest {
		return number
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	point := len(whole) + e // where it goes among all digits
	all := whole + fraction
	if point <= 0 {
		all = strings.Repeat("0", 1-point) + all
		point = 1
	}
	if point > len(all) {
		all += strings.Repeat("0", point-len(all))
	}
	whole, fraction = strings.TrimLeft(all[:point], "0"), all[point:]
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(whole, "0.") != "" {
		return "-" + whole
	}
	return whole
}
