package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// oneOf is the value of a flag: one of some words.
type oneOf struct {
	value string
	words []string
}

func (o *oneOf) String() string { return o.value }
func (o *oneOf) Type() string   { return "WORD" }

func (o *oneOf) Set(text string) error {
	if slices.Contains(o.words, text) {
		o.value = text
		return nil
	}
	if near := syntax.Closest(text, o.words); near != "" {
		return fmt.Errorf("did you mean %s?", near)
	}
	return fmt.Errorf("want one of %s", strings.Join(o.words, ", "))
}

// positive is the value of a flag: how many, at least one.
type positive struct{ number *int }

func (p positive) String() string {
	if p.number == nil {
		return ""
	}
	return strconv.Itoa(*p.number)
}
func (p positive) Type() string { return "N" }

func (p positive) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 100_000 {
		return fmt.Errorf("want a number from 1 to 100000")
	}
	*p.number = n
	return nil
}

// notEmpty is the value of a flag: a text, which a variable that is not set does not make. hint
// says what to write.
type notEmpty struct {
	text *string
	hint string
}

func (n notEmpty) String() string {
	if n.text == nil {
		return ""
	}
	return *n.text
}
func (n notEmpty) Type() string { return "string" }

func (n notEmpty) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty: " + n.hint)
	}
	*n.text = text
	return nil
}

// visible spells out what a terminal would obey, but for ends of lines and tabs: texts of
// providers and records may hold anything.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// plainJSON is JSON in which <, > and & stay as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
