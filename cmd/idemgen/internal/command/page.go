package command

import (
	"io/fs"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"
)

// Pages are what commands print for people, a template each.
type Pages struct{ all *template.Template }

// NewPages reads the templates of the folder text. They may call these functions, and those that
// all pages have.
func NewPages(files fs.FS, functions template.FuncMap) *Pages {
	p := &Pages{template.New("")}
	p.all.Funcs(template.FuncMap{
		"text": p.Text, "wrap": Wrap, "quote": Quote, "time": func(t time.Time) string { return t.Format(time.RFC3339) },
	})
	template.Must(p.all.Funcs(functions).ParseFS(files, "text/*.tmpl"))
	return p
}

// Text is a page of a value.
func (p *Pages) Text(page string, of any) (string, error) {
	var b strings.Builder
	err := p.all.ExecuteTemplate(&b, page, of)
	return b.String(), err
}

// Names are the names of all pages.
func (p *Pages) Names() (names []string) {
	for _, page := range p.all.Templates() {
		if name := page.Name(); name != "" && !strings.HasSuffix(name, ".tmpl") {
			names = append(names, name)
		}
	}
	return names
}

// Columns is how wide a terminal is at least.
const Columns = 100

// Wrap puts a text behind blanks, in lines that end before the last column.
func Wrap(text string) string {
	var b strings.Builder
	line := "         "
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > Columns {
			b.WriteString(line + "\n")
			line = "           "
		}
		line += " " + word
	}
	return b.String() + strings.TrimRight(line, " ")
}

// Quote quotes a text in which blanks or marks would be overlooked.
func Quote(text string) string {
	if quoted := strconv.Quote(text); text == "" || quoted[1:len(quoted)-1] != text || strings.TrimSpace(text) != text {
		return quoted
	}
	return text
}
