package syntax

import "strings"

// Section is a map of the language: its keys, and how people are told of it.
type Section struct {
	Of    string   // in titles, behind a key: "a topic"
	Rules string   // the page in docs, and its heading, with rules that reach over several keys
	OneOf []string // it has exactly one of these keys
	Keys  []Key
}

// Key is one key of a section, as editors and docs/keys.md show it.
type Key struct {
	Name     string
	Required bool
	Text     string // what it is for, in plain sentences
	More     string // what only the reference says, in Markdown
	Values   string // in Markdown; "" if the shape says it
	Default  string // in Markdown
	Codes    string // of its own errors, not of those that any key can have
	With     string // the verbs that take it, if not all do
	Example  string // in YAML
	Shape    Shape
	looked   looked
}

// looked is what people write who look for a key.
type looked struct {
	also  string // words of other tools for it, with blanks between them
	write string // what to write in their place
	asMap string // how a text that stands for its map is written: the text is TEXT
}

// Shape describes the accepted forms of a value: one of these, or each of Or.
type Shape struct {
	Name  string // of its definition in the JSON Schema; "" if it has none
	About string // what editors show where no key describes the value

	Text      bool   // any text, or one that matches Pattern
	Pattern   string //
	Low, High string // the range of a measure or a number, as a spec has them
	Number    bool   // a whole number
	Constant  bool   // a text, a number or a bool
	Null      bool   // a constant, or null
	Any       bool   // whatever YAML can say
	Words     []string
	Section   *Section
	Entries   *Shape // a map with names of the user's choice, which match Names
	Names     string
	Items     *Shape // a list
	Some      bool   // the map or list is not empty
	One       bool   // the map has one entry
	Or        []Shape
}

// Language returns the keys of a spec.
func Language() Section { return *specShape.Section }

// CaseLanguage returns the keys of a case.
func CaseLanguage() Section { return *caseShape.Section }

// in is the shape of a map with these keys.
func (ks keys[T]) in(s Section) Shape {
	for _, k := range ks {
		if k.read != nil {
			s.Keys = append(s.Keys, k.shown())
		}
	}
	return Shape{Section: &s}
}

func (k key[T]) shown() Key {
	return Key{
		Name: k.name, Required: k.required || k.asked, Shape: k.shape,
		Text: k.text, More: k.more, Values: k.values, Default: k.standard, Codes: k.codes, With: k.with, Example: k.example,
		looked: looked{k.also, k.write, k.asMap},
	}
}

// The forms of a value.
var (
	textShape     = Shape{Text: true}
	constantShape = Shape{Constant: true}
	boolShape     = Shape{Words: []string{"true", "false"}}
)

func listOf(item Shape) Shape              { return Shape{Items: &item} }
func someOf(item Shape) Shape              { return Shape{Items: &item, Some: true} }
func mapOf(names nameKind, of Shape) Shape { return Shape{Names: names.pattern.String(), Entries: &of} }
func either(forms ...Shape) Shape          { return Shape{Or: forms} }

// as is a shape under a name that the JSON Schema has for it.
func (s Shape) as(name string) Shape { s.Name = name; return s }

func (s Shape) some() Shape { s.Some = true; return s }

// Each calls f for the section and for those in it, as often as a key has one.
func (s Section) Each(f func(Section)) {
	f(s)
	for _, k := range s.Keys {
		k.Shape.each(f)
	}
}

func (s Shape) each(f func(Section)) {
	if s.Section != nil {
		s.Section.Each(f)
	}
	for _, below := range []*Shape{s.Entries, s.Items} {
		if below != nil {
			below.each(f)
		}
	}
	for _, form := range s.Or {
		form.each(f)
	}
}

// lookedFor says what to write in place of a key that other tools have, and asMap how to write as
// a map what people write as one text.
var lookedFor, asMap = map[string]string{}, map[string]string{}

func init() { // the readers of the tables look into both maps
	add := func(words, hint string) {
		for word := range strings.FieldsSeq(words) {
			lookedFor[word] = hint
		}
	}
	for _, none := range withoutKey {
		add(none.also, none.write)
	}
	Language().Each(func(s Section) {
		for _, k := range s.Keys {
			add(k.looked.also, k.looked.write)
			if k.looked.asMap != "" {
				asMap[k.Name] = k.looked.asMap
			}
		}
	})
}
