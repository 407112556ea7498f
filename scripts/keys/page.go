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

This page is the reference for the keys of ` + "`idemgen.yaml`" + ` and of [cases](cases.md). Each entry says
what the key sets, and lists its values, the verbs of the steps that accept it, and its own errors.
[spec.md](spec.md) teaches the language. ` + "`go run ./scripts/keys`" + ` generates this page from
` + "`internal/gen/syntax`" + `.

These errors can occur with any key:

| code | error |
|---|---|
| E104 | unknown key |
| E105 | missing key |
| E106 | value that is empty or of the wrong kind |
| E107 | duplicate key, or duplicate item of a list |
| E108 | malformed value |
| E111 | value that is not one of the listed ones |
| E708 | value out of range |

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
const named = "a named entry"

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
	for i := 0; i < len(places); {
		var links []string
		name := places[i].name
		for ; i < len(places) && places[i].name == name; i++ {
			links = append(links, fmt.Sprintf("[%s](#%s)", places[i].of, places[i].link))
		}
		writeItem(b, fmt.Sprintf("`%s`: %s", name, strings.Join(links, ", ")))
	}
}

func heading(s syntax.Section) string             { return "Keys of " + s.Of }
func title(k syntax.Key, s syntax.Section) string { return "`" + k.Name + "` of " + s.Of }

// listed reports whether the keys of a section have a row each: there is nothing else to say of
// them.
func listed(s syntax.Section) bool {
	return len(s.Keys) > 1 && !slices.ContainsFunc(s.Keys, func(k syntax.Key) bool { return k.Codes != "" || k.More != "" })
}

// verbs is a table of the keys of a step by the verbs that accept them, if not all do.
func verbs(b *bytes.Buffer, s syntax.Section) {
	if !slices.ContainsFunc(s.Keys, func(k syntax.Key) bool { return k.With != "" }) {
		return
	}
	fmt.Fprintf(b, "\n| key | %s |\n|---|%s\n", strings.Join(s.OneOf, " | "), strings.Repeat("---|", len(s.OneOf)))
	for _, k := range s.Keys {
		if slices.Contains(s.OneOf, k.Name) {
			continue
		}
		with := strings.Fields(k.With)
		fmt.Fprintf(b, "| [`%s`](#%s) |", k.Name, anchor(title(k, s)))
		for _, verb := range s.OneOf {
			if k.With == "" || slices.Contains(with, verb) {
				b.WriteString(" yes |")
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
}

func section(b *bytes.Buffer, s syntax.Section) {
	file, _, _ := strings.Cut(s.Rules, "#")
	rules := fmt.Sprintf("See [%s](%s).", file, s.Rules)
	switch {
	case len(s.OneOf) == len(s.Keys):
		rules = "Exactly one of these keys is required (E110). " + rules
	case s.OneOf != nil:
		last := len(s.OneOf) - 1
		rules = "Exactly one of " + code(s.OneOf[:last]) + " and " + code(s.OneOf[last:]) + " is required (E110). " + rules
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
	verbs(b, s)
	for _, k := range s.Keys {
		fmt.Fprintf(b, "\n### %s\n%s\n\n", title(k, s), said(k))
		for _, fact := range factsOf(k) {
			writeItem(b, fact)
		}
		fmt.Fprintf(b, "\n```yaml\n%s\n```\n", k.Example)
	}
}

// factsOf are the items of the list below the text of a key.
func factsOf(k syntax.Key) (facts []string) {
	add := func(name, fact string) {
		if fact != "" {
			facts = append(facts, name+fact)
		}
	}
	accepted := cmp.Or(k.Values, values(k.Shape))
	of, conditional := strings.CutPrefix(k.Default, "required")
	marked := strings.Replace(accepted, k.Default, k.Default+" (default)", 1)
	switch {
	case k.Required, conditional:
		add("Values: ", accepted)
		facts = append(facts, "Required"+of)
	case k.Default != "" && k.Shape.Words != nil && marked != accepted:
		add("Values: ", marked)
	default:
		add("Values: ", accepted)
		add("Default: ", k.Default)
	}
	if k.With != "" {
		add("Verbs: ", code(strings.Fields(k.With)))
	}
	add("Errors: ", k.Codes)
	return facts
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
	return "string"
}

func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// columns is the width of prose.
const columns = 100

// writeItem writes an item of a list.
func writeItem(b *bytes.Buffer, text string) {
	b.WriteString(strings.ReplaceAll(wrapped("- "+text), "\n", "\n  ") + "\n")
}

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
