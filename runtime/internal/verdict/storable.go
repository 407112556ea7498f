package verdict

import (
	"strings"
	"unicode/utf8"
)

// reasonBytes is how many bytes of an error's text are shown and kept.
const reasonBytes = 2000

// cut shortens the text of an error, at the beginning of a character, and says so.
func cut(text string) string {
	if len(text) <= reasonBytes {
		return text
	}
	end := reasonBytes
	for end > reasonBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + " ... (cut)"
}

// Storable converts the error text of a handler or an effect into a valid value of type text.
func Storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(cut(text), "\x00", ""), "\uFFFD")
}

// shortened is an error with a text that was cut.
type shortened struct {
	text string
	error
}

func (e *shortened) Error() string { return e.text }
func (e *shortened) Unwrap() error { return e.error }

// shorten cuts the text of an error.
func shorten(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); len(text) > reasonBytes {
		return &shortened{strings.Clone(cut(text)), err}
	}
	return err
}
