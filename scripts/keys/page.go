package main

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

const intro = `# Keys, one by one

Look up a key of ` + "`idemgen.yaml`" + `, or of a [case](cases.md), here: what it is for, what it takes,
and an example. [spec.md](spec.md) teaches the language. ` + "`go run ./scripts/keys`" + ` makes this page
from the tables of keys in ` + "`internal/gen/syntax`" + `.

In the tables, *default* is what holds without the key, *with* names the verbs of steps that take
it, and *refused* the errors about it. These errors are about any key:

| code | the key |
|---|---|
| E104 | does not exist |
| E105 | is required, and missing |
| E106 | has a value of the wrong kind, or an empty one |
| E107 | is there twice |
| E108 | has a malformed value |
| E708 | has a value out of its range |

`

// page is docs/keys.md.
func page(languages ...syntax.Section) []byte {
	var b, sections bytes.Buffer
	b.WriteString(intro)
	var places []place
	for _, top := range languages {
		for _, s := range sectionsOf(top) {
			places = append(places, placesOf(s)...)
			section(&sections, s)
		}
	}
	index(&b, places)
	b.Write(sections.Bytes())
	b.WriteString("\nNext: [how duplicates are recognized](patterns.md).\n")
	return b.Bytes()
}

// named is the section of the key that all named things have.
const named = "whatever has a name"

// sectionsOf lists the sections of a language once each. The description of named things is one
// section, behind the top.
func sectionsOf(top syntax.Section) (all []syntax.Section) {
	top.Each(func(s syntax.Section) {
		if slices.ContainsFunc(all, func(o syntax.Section) bool { return o.Of == s.Of }) {
			return
		}
		if d := s.Keys[0]; d.Name == "description" && s.Of != top.Of {
			s.Keys = s.Keys[1:]
			if !slices.ContainsFunc(all, func(o syntax.Section) bool { return o.Of == named }) {
				all = append(all, syntax.Section{Of: named, Rules: "spec.md#names", Keys: []syntax.Key{d}})
			}
		}
		all = append(all, s)
	})
	return all
}

// place is a key and where its section is.
type place struct {
	name, of, link string
}

// placesOf are the keys of a section.
func placesOf(s syntax.Section) (all []place) {
	for _, k := range s.Keys {
		link := anchor(title(k, s))
		if listed(s) {
			link = anchor(heading(s))
		}
		all = append(all, place{k.Name, s.Of, link})
	}
	return all
}

// index lists the keys from A to Z.
func index(b *bytes.Buffer, places []place) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.name, b.name) })
	b.WriteString("| key | of |\n|---|---|\n")
	for i := 0; i < len(places); {
		var links []string
		name := places[i].name
		for ; i < len(places) && places[i].name == name; i++ {
			links = append(links, fmt.Sprintf("[%s](#%s)", places[i].of, places[i].link))
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.Join(links, " · "))
	}
}

func heading(s syntax.Section) string             { return "Keys of " + s.Of }
func title(k syntax.Key, s syntax.Section) string { return "`" + k.Name + "` of " + s.Of }

// listed reports whether the keys of a section have a row each: there is nothing else to say of
// them.
func listed(s syntax.Section) bool {
	return len(s.Keys) > 1 && !slices.ContainsFunc(s.Keys, func(k syntax.Key) bool { return k.Codes != "" || k.More != "" })
}

func section(b *bytes.Buffer, s syntax.Section) {
	file, _, _ := strings.Cut(s.Rules, "#")
	rules := fmt.Sprintf("The rules are in [%s](%s).", file, s.Rules)
	switch {
	case len(s.OneOf) == len(s.Keys):
		rules = "Exactly one of them is there (E110). " + rules
	case s.OneOf != nil:
		rules = "Exactly one of " + code(s.OneOf) + " is there (E110). " + rules
	}
	fmt.Fprintf(b, "\n## %s\n%s\n", heading(s), wrapped(rules))
	if listed(s) {
		fmt.Fprintf(b, "\n| key | meaning |\n|---|---|\n")
		for _, k := range s.Keys {
			fmt.Fprintf(b, "| `%s` | %s |\n", k.Name, k.Text)
		}
		fmt.Fprintf(b, "\n```yaml\n%s\n```\n", s.Keys[0].Example)
		return
	}
	for _, k := range s.Keys {
		fmt.Fprintf(b, "\n### %s\n%s\n\n| | |\n|---|---|\n", title(k, s), said(k))
		with := ""
		if k.With != "" {
			with = code(strings.Fields(k.With))
		}
		standard := k.Default
		if k.Required {
			standard = "required"
		}
		for _, row := range [][2]string{
			{"values", cmp.Or(k.Values, values(k.Shape))}, {"default", standard}, {"with", with}, {"refused", k.Codes},
		} {
			if row[1] != "" {
				fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
			}
		}
		fmt.Fprintf(b, "\n```yaml\n%s\n```\n", k.Example)
	}
}

// said is what the page says of a key: in one paragraph, if that is short.
func said(k syntax.Key) string {
	whole := wrapped(strings.TrimSpace(k.Text + " " + k.More))
	if strings.Count(whole, "\n") < 3 {
		return whole
	}
	return strings.TrimSpace(wrapped(k.Text) + "\n\n" + wrapped(k.More))
}

// values says what a shape takes.
func values(s syntax.Shape) string {
	switch {
	case s.Name == "path":
		return "path"
	case s.Words != nil:
		return code(s.Words)
	case s.Low != "" && s.High != "":
		return s.Low + " to " + s.High
	case s.Section != nil, s.Entries != nil:
		return "map"
	case s.Items != nil && s.Items.Words != nil:
		return "list of " + code(s.Items.Words)
	case s.Items != nil && s.Items.Section != nil:
		return "list of maps"
	case s.Items != nil:
		return "list"
	}
	return "text"
}

func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// columns is the width of prose.
const columns = 100

// block matches a word that begins something else than prose where a line begins with it.
var block = regexp.MustCompile(`^([-+*#>|=]|[0-9]+[.)]$)`)

// wrapped cuts prose into lines.
func wrapped(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > columns && !block.MatchString(word):
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
