package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/idemgen/idemgen/internal/gen/syntax"
)

// jsonSchema is the JSON Schema of a language.
func jsonSchema(top syntax.Section, file, title, description string) []byte {
	d := definitions{seen: map[string]bool{}}
	schema := append(object{
		{"$schema", "http://json-schema.org/draft-07/schema#"},
		{"$id", "https://github.com/idemgen/idemgen/schema/" + file},
		{"title", title},
		{"description", description},
	}, d.section(top)...)
	var b bytes.Buffer
	write(&b, append(schema, member{"definitions", d.list}), "")
	b.WriteByte('\n')
	return b.Bytes()
}

// definitions are the shapes that the schema has under a name, in the order in which it first
// refers to them.
type definitions struct {
	list object
	seen map[string]bool
}

// described is the schema of a shape. A text says what it is for; of a shape with a name it stands
// beside a reference, to which editors add it.
func (d *definitions) described(s syntax.Shape, text string) object {
	if s.Name == "" {
		return append(saying(text, s.About), d.form(s)...)
	}
	if !d.seen[s.Name] {
		d.seen[s.Name] = true
		at := len(d.list)
		d.list = append(d.list, member{s.Name, nil})
		d.list[at].value = append(saying(s.About), d.form(s)...)
	}
	ref := object{{"$ref", "#/definitions/" + s.Name}}
	if text == "" {
		return ref
	}
	return append(saying(text), member{"anyOf", []any{ref}})
}

// saying is the description that texts make, which are Markdown.
func saying(texts ...string) object {
	text := strings.ReplaceAll(strings.TrimSpace(strings.Join(texts, " ")), "`", "")
	if text == "" {
		return nil
	}
	return object{{"description", text}}
}

func (d *definitions) form(s syntax.Shape) object {
	switch {
	case s.Or != nil:
		var forms []any
		for _, form := range s.Or {
			forms = append(forms, d.described(form, ""))
		}
		return object{{"anyOf", forms}}
	case s.Words != nil:
		return object{{"enum", constants(s.Words)}}
	case s.Section != nil:
		return d.section(*s.Section)
	case s.Entries != nil:
		o := object{{"type", "object"}}
		if s.Some || s.One {
			o = append(o, member{"minProperties", 1})
		}
		if s.One {
			o = append(o, member{"maxProperties", 1})
		}
		if s.Names != "" {
			o = append(o, member{"propertyNames", object{{"pattern", s.Names}}})
		}
		return append(o, member{"additionalProperties", d.described(*s.Entries, "")})
	case s.Items != nil:
		o := object{{"type", "array"}}
		if s.Some {
			o = append(o, member{"minItems", 1})
		}
		return append(o, member{"items", d.described(*s.Items, "")})
	case s.Number:
		o := object{{"type", "integer"}}
		for _, bound := range []member{{"minimum", s.Low}, {"maximum", s.High}} {
			if bound.value != "" {
				o = append(o, member{bound.name, json.Number(bound.value.(string))})
			}
		}
		return o
	case s.Constant:
		return object{{"type", []any{"string", "number", "boolean"}}}
	case s.Null:
		return object{{"type", []any{"string", "number", "boolean", "null"}}}
	case s.Any:
		return nil
	case s.Pattern != "":
		return object{{"type", "string"}, {"pattern", s.Pattern}}
	}
	return object{{"type", "string"}}
}

func (d *definitions) section(s syntax.Section) object {
	o := object{{"type", "object"}, {"additionalProperties", false}}
	var required, oneOf []any
	var properties object
	for _, k := range s.Keys {
		if k.Required {
			required = append(required, k.Name)
		}
		properties = append(properties, member{k.Name, d.described(k.Shape, k.Text+standard(k))})
	}
	for _, name := range s.OneOf {
		oneOf = append(oneOf, object{{"required", []any{name}}})
	}
	switch {
	case required != nil:
		o = append(o, member{"required", required})
	case len(oneOf) == len(s.Keys):
		o = append(o, member{"minProperties", 1}, member{"maxProperties", 1})
	case oneOf != nil:
		o = append(o, member{"oneOf", oneOf})
	}
	return append(o, member{"properties", properties})
}

// standard says what holds without a key.
func standard(k syntax.Key) string {
	if of, is := strings.CutPrefix(k.Default, "required"); is {
		return " Required" + of + "."
	}
	if k.Default == "" {
		return ""
	}
	return " Default: " + k.Default + "."
}

// constants are words as YAML reads them: a number may be in quotes.
func constants(words []string) (all []any) {
	for _, word := range words {
		if b, err := strconv.ParseBool(word); err == nil && len(word) > 1 {
			all = append(all, b)
			continue
		}
		if _, err := strconv.Atoi(word); err == nil {
			all = append(all, json.Number(word))
		}
		all = append(all, word)
	}
	return all
}

// object is a JSON object whose members have an order.
type object []member

type member struct {
	name  string
	value any
}

// width is that of the lines of a schema, unless a text is longer.
const width = 120

// write writes a value, on one line if it fits there.
func write(b *bytes.Buffer, value any, indent string) {
	line := oneLine(value)
	if len(indent)+len(line) <= width {
		b.WriteString(line)
		return
	}
	deeper := indent + "  "
	switch v := value.(type) {
	case object:
		b.WriteString("{")
		for i, m := range v {
			separate(b, i, deeper)
			b.WriteString(oneLine(m.name) + ": ")
			write(b, m.value, deeper)
		}
		b.WriteString("\n" + indent + "}")
	case []any:
		b.WriteString("[")
		for i, item := range v {
			separate(b, i, deeper)
			write(b, item, deeper)
		}
		b.WriteString("\n" + indent + "]")
	default:
		b.WriteString(line)
	}
}

func separate(b *bytes.Buffer, i int, indent string) {
	if i > 0 {
		b.WriteString(",")
	}
	b.WriteString("\n" + indent)
}

func oneLine(value any) string {
	var parts []string
	switch v := value.(type) {
	case object:
		for _, m := range v {
			parts = append(parts, oneLine(m.name)+": "+oneLine(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, oneLine(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // no value of a schema is anything but a text, a number or a bool
	}
	return strings.TrimSuffix(b.String(), "\n")
}
