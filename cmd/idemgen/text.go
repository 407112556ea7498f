package main

import (
	"bytes"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/operate"
)

//go:embed text
var texts embed.FS

// pages are what commands print for people, a template each.
var pages = template.New("")

func init() {
	template.Must(pages.Funcs(template.FuncMap{
		"age": operate.Age, "ownerless": operate.Ownerless, "state": stateOf, "lag": lagOf, "missing": missing, "advice": advice, "bytes": bytesText, "quote": quote, "payload": payloadText, "short": short, "wrap": wrap,
		"time": func(t time.Time) string { return t.Format(time.RFC3339) }, "nano": func(t time.Time) string { return t.Format(time.RFC3339Nano) },
		"text": text, "base": path.Base, "split": func(text string) []string { return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }) }, "dir": path.Dir, "join": func(words []string) string { return strings.Join(words, " ") },
		"line": oneLine, "capital": capital, "list": func(texts ...string) []string { return texts },
	}).ParseFS(texts, "text/*.tmpl"))
}

// text is a page of a value.
func text(page string, of any) (string, error) {
	var b strings.Builder
	err := pages.ExecuteTemplate(&b, page, of)
	return b.String(), err
}

// columns is how wide a terminal is at least.
const columns = 100

// wrap puts a text behind blanks, in lines that end before the last column.
func wrap(text string) string {
	var b strings.Builder
	line := "         "
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			b.WriteString(line + "\n")
			line = "           "
		}
		line += " " + word
	}
	return b.String() + strings.TrimRight(line, " ")
}

// short cuts what a list shows of a reason; dead show has all of it.
func short(text string) string {
	if r := []rune(text); len(r) > 240 {
		return string(r[:240]) + " ..."
	}
	return text
}

// bytesText shows a key or a header's value.
func bytesText(v *operate.Bytes) string {
	switch {
	case v == nil:
		return "none"
	case v.Text == nil:
		return "hex " + v.Hex
	}
	return quote(*v.Text)
}

// quote quotes a text in which blanks or marks would be overlooked.
func quote(text string) string {
	if quoted := strconv.Quote(text); text == "" || quoted[1:len(quoted)-1] != text || strings.TrimSpace(text) != text {
		return quoted
	}
	return text
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
		kind, body = fmt.Sprintf("no text; its first %d", mostHex), hex.Dump(raw[:mostHex])
	case v.Text == nil:
		kind, body = "no text", hex.Dump(raw)
	case json.Indent(&indented, raw, "", "  ") == nil:
		kind, body = "JSON", indented.String()
	}
	return fmt.Sprintf("%d bytes, %s\n\n%s\n", len(raw), kind, strings.TrimRight(body, "\n"))
}
