// Package goname makes names of the generated code from names of the spec.
//
// It must not import any other package of this module.
package goname

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are words that Go names write in capitals.
var initialisms = func() map[string]string {
	words := map[string]string{}
	for _, w := range strings.Fields(`ACL API ASCII CPU CSS DNS EOF GUID HTML HTTP HTTPS ID IP JSON JWT LHS QPS
		RAM RHS RPC SKU SLA SMTP SQL SSH TCP TLS TTL UDP UI UID URI URL UTC UTF8 UUID VAT VM XML XMPP XSRF XSS`) {
		words[strings.ToLower(w)] = w
	}
	for _, w := range []string{"API", "ID", "IP", "SKU", "URI", "URL", "UUID"} {
		words[strings.ToLower(w)+"s"] = w + "s"
	}
	return words
}()

// Of makes an exported Go name of a name of the spec: order_id becomes OrderID,
// orders.v1 becomes OrdersV1, IN_TRANSIT becomes InTransit. The result is not an
// identifier if the text has no letter or digit, or begins with a digit.
func Of(text string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if w, ok := initialisms[strings.ToLower(word)]; ok {
			b.WriteString(w)
			continue
		}
		if len(word) > 1 && word == strings.ToUpper(word) {
			word = strings.ToLower(word)
		}
		letters := []rune(word)
		letters[0] = unicode.ToUpper(letters[0])
		b.WriteString(string(letters))
	}
	return b.String()
}

// IsExported reports whether a Go name can be an exported identifier.
func IsExported(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first)
}

// Unexported lowers the first word of a Go name: OrderPlaced becomes orderPlaced, and SKUChanged
// skuChanged.
func Unexported(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

// File is the part of file names that stands for a topic: lower case, and _ for
// everything but letters and digits.
func File(topic string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToLower(topic))
}
