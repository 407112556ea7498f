package view

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/visible"
)

// secrets are what a spec calls sensitive of an event. Members of JSON are found by their names
// alone, wherever they are: a change record has each value twice, and the spec names one; a text
// may hold JSON. Whatever is shown goes through text or json, which mask them.
type secrets struct {
	members map[string]bool // in lower case, as headers are
	headers map[string]bool
	key     bool // a part of the record key
	whole   bool // the payload as a whole
}

func newSecrets() *secrets { return &secrets{members: map[string]bool{}, headers: map[string]bool{}} }

// none reports whether nothing is sensitive.
func (s *secrets) none() bool {
	return len(s.members) == 0 && len(s.headers) == 0 && !s.key && !s.whole
}

// event adds what is sensitive of an event.
func (s *secrets) event(t *model.Topic, e *model.Event) {
	seen := map[*model.Type]bool{}
	for _, f := range e.Fields {
		s.field(f, seen)
	}
	if t.RecordKey != nil {
		for _, p := range t.RecordKey.Parts {
			for _, f := range e.Fields {
				if f.Sensitive && (f.Source.Part == p || f.SamePart == p) {
					s.key = true
				}
			}
		}
	}
}

// field adds a field, or what is sensitive in it.
func (s *secrets) field(f *model.Field, seen map[*model.Type]bool) {
	if f.Sensitive {
		switch f.Source.Kind {
		case model.FromHeader:
			s.headers[strings.ToLower(f.Source.Header)] = true
		case model.FromRecordKey:
			s.key = true
		case model.FromRecord:
			s.key = s.key || f.Source.Record == "key"
			s.whole = s.whole || f.Source.Record == "value"
		default:
			if len(f.Source.Path) == 0 {
				s.whole = true
			} else {
				s.members[strings.ToLower(f.Source.Path[len(f.Source.Path)-1])] = true
			}
		}
		return
	}
	s.fieldType(f.Type, seen)
}

func (s *secrets) fieldType(t model.FieldType, seen map[*model.Type]bool) {
	if t.Elem != nil {
		s.fieldType(*t.Elem, seen)
	}
	if t.Named == nil || seen[t.Named] {
		return
	}
	seen[t.Named] = true
	for _, f := range t.Named.Fields {
		s.field(f, seen)
	}
}

// result adds what is sensitive in what an event's effect returns.
func (s *secrets) result(e *model.Event) {
	if e.Returns() {
		s.fieldType(model.FieldType{Named: e.Effect.Result}, map[*model.Type]bool{})
	}
}

// text returns bytes as people may see them: JSON without the values of sensitive members, and
// indented if it is an object or an array; any other text as it is, unless it may hold such a
// member.
func (s *secrets) text(value []byte) (out string, masked bool) {
	document := trimmed(value)
	if len(document) > 0 && strings.IndexByte(`{["`, document[0]) >= 0 {
		out, masked, err := s.json(document)
		switch {
		case err == nil && (masked || document[0] != '"'):
			return out, masked
		case err != nil && len(s.members) > 0 && bytes.IndexByte(document, '{') >= 0 && bytes.IndexByte(document, '"') >= 0:
			return Redacted, true
		}
	}
	if s.named(value) {
		return Redacted, true
	}
	return text(value), false
}

// trimmed returns a text without the blanks and byte order marks around it, which is how a decoder
// of JSON may read it.
func trimmed(value []byte) []byte { return bytes.Trim(value, " \t\r\n\ufeff") }

// named reports whether a text has the name of a sensitive member in quotes, also if they are
// escaped, or if each character takes several bytes.
func (s *secrets) named(value []byte) bool {
	if len(s.members) == 0 {
		return false
	}
	plain := bytes.ToLower(bytes.Map(func(r rune) rune {
		if r == 0 || r == '\\' {
			return -1
		}
		return r
	}, value))
	for name := range s.members {
		if bytes.Contains(plain, []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}

// mostShown is how much of a payload is shown, in bytes.
const mostShown = 256 << 10

// deepest is how deep a payload may be nested to be shown.
const deepest = 100

// json returns a document, indented, without the values of sensitive members. Numbers and the
// order of members stay as they are. An error does not quote the document.
func (s *secrets) json(document []byte) (out string, masked bool, err error) {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	w := &printer{hide: s, from: d}
	if err := w.value(0, false); err != nil {
		return "", false, notJSON(d, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return "", false, fmt.Errorf("there is data after the JSON value, at byte %d", d.InputOffset())
	}
	return w.out.String(), w.masked, nil
}

func notJSON(d *json.Decoder, err error) error {
	if errors.Is(err, errTooMuch) || errors.Is(err, errTooDeep) {
		return err
	}
	return fmt.Errorf("it is not JSON, at byte %d", d.InputOffset())
}

var (
	errTooMuch = errors.New("it is too long to be shown")
	errTooDeep = errors.New("it is nested too deeply to be shown")
)

// printer writes a document that it reads by its tokens.
type printer struct {
	hide   *secrets
	from   *json.Decoder
	out    strings.Builder
	masked bool
}

// value writes the next value. Of a hidden one, it writes only that there is one.
func (w *printer) value(depth int, hidden bool) error {
	if depth > deepest {
		return errTooDeep
	}
	token, err := w.from.Token()
	if err != nil {
		return err
	}
	open, is := token.(json.Delim)
	switch {
	case is:
		return w.composite(open, depth, hidden)
	case hidden:
	default:
		w.scalar(w.inner(token))
	}
	if w.out.Len() > mostShown {
		return errTooMuch
	}
	return nil
}

// composite writes the members of an object, or the elements of an array.
func (w *printer) composite(open json.Delim, depth int, hidden bool) error {
	write := func(text string) {
		if !hidden {
			w.out.WriteString(text)
		}
	}
	write(open.String())
	n := 0
	for ; w.from.More(); n++ {
		if n > 0 {
			write(",")
		}
		write("\n" + strings.Repeat("  ", depth+1))
		secret := false
		if open == '{' {
			name, err := w.from.Token()
			if err != nil {
				return err
			}
			secret = w.hide.members[strings.ToLower(fmt.Sprint(name))]
			if !hidden {
				w.scalar(name)
				write(": ")
			}
		}
		if secret && !hidden {
			write(`"` + Redacted + `"`)
			w.masked = true
		}
		if err := w.value(depth+1, hidden || secret); err != nil {
			return err
		}
	}
	closing, err := w.from.Token()
	if err != nil {
		return err
	}
	if n > 0 {
		write("\n" + strings.Repeat("  ", depth))
	}
	write(fmt.Sprint(closing))
	return nil
}

// inner returns a token that has no members, without the sensitive ones of JSON that its text
// holds.
func (w *printer) inner(token json.Token) json.Token {
	if v, is := token.(string); is {
		if shown, masked := w.hide.text([]byte(v)); masked {
			w.masked = true
			var short bytes.Buffer
			if json.Compact(&short, []byte(shown)) == nil {
				shown = short.String()
			}
			return shown
		}
	}
	return token
}

// scalar writes a token that has no members.
func (w *printer) scalar(token json.Token) {
	switch v := token.(type) {
	case json.Number:
		w.out.WriteString(v.String())
	case string:
		w.out.WriteString(quote(v))
	case nil:
		w.out.WriteString("null")
	default:
		fmt.Fprint(&w.out, v)
	}
}

// quote returns a JSON string in which every character that people cannot see is escaped, such as
// one that changes the direction of text.
func quote(v string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // of a string it cannot fail
	return visible.Text(strings.TrimSuffix(b.String(), "\n"))
}

// text returns bytes as people can read them: as text, or else the first of them in hex.
func text(value []byte) string {
	const most = 16 << 10
	cut := ""
	if n := len(value); n > most {
		value, cut = value[:most], fmt.Sprintf("\n... %d more bytes", n-most)
		for i := 0; i < utf8.UTFMax && !utf8.Valid(value); i++ {
			value = value[:len(value)-1]
		}
	}
	if utf8.Valid(value) {
		return visible.Text(string(value)) + cut
	}
	if n := len(value); n > 4096 {
		value, cut = value[:4096], fmt.Sprintf("\n... more bytes, of at least %d", n)
	}
	return strings.TrimSuffix(hex.Dump(value), "\n") + cut
}
