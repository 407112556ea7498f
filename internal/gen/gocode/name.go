package gocode

import (
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/internal/gen/model"
	"github.com/idemgen/idemgen/internal/gen/resolve/goname"
)

func upperFirst(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// planFields are the fields that a plan may have besides its scratch events and rows.
var planFields = map[string]bool{"handler": true, "decoder": true, "encoding": true, "keyEncoding": true, "eventType": true}

// scratch is the plan's field for a declarative event.
func scratch(e *model.Event) string {
	name := goname.Unexported(e.GoName)
	if !planFields[name] && !token.IsKeyword(name) {
		return name
	}
	other := func(o *model.Event) bool { return goname.Unexported(o.GoName) == name }
	for name += "Event"; slices.ContainsFunc(e.Topic.Events, other); {
		name += "Event"
	}
	return name
}

// rowsField is the plan's field for the rows of a step, statementConst the constant that
// holds its SQL.
func rowsField(s *model.Step) string { return goname.Unexported(s.GoName) }

func statementConst(s *model.Step) string { return rowsField(s) + "SQL" }

func planType(t *model.Topic) string { return goname.Unexported(t.GoName) + "Plan" }

func topicFunc(t *model.Topic) string { return goname.Unexported(t.GoName) + "Topic" }

func handlerType(t *model.Topic) string { return t.GoName + "Handler" }

func decoderType(t *model.Topic) string { return goname.Unexported(t.GoName) + "Decoder" }

func keyType(t *model.Topic) string { return goname.Unexported(t.GoName) + "Key" }

func policyVar(e *model.Event) string { return goname.Unexported(e.GoName) + "Policy" }

func eventVar(e *model.Event) string { return goname.Unexported(e.GoName) + "Event" }

func valuesVar(t *model.Type) string { return goname.Unexported(t.GoName) + "Values" }

// flagName makes a variable's name of any text: meta-data -> metaData.
func flagName(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := ""
	for _, w := range words {
		if name != "" {
			w = upperFirst(w)
		}
		name += w
	}
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = "member" + name
	}
	if token.IsKeyword(name) {
		name += "Member"
	}
	return name
}

// fieldPath names a field's place in errors.
func fieldPath(f *model.Field) string {
	switch f.Source.Kind {
	case model.FromHeader:
		return "header " + f.Source.Header
	case model.FromRecord:
		return "record " + f.Source.Record
	case model.FromRecordKey:
		return strings.Join(append([]string{"record key"}, f.Source.Part.Path...), ".")
	}
	return strings.Join(f.Source.Path, ".")
}

// docOf is the comment of a named thing: its description or else a sentence made for it.
func docOf(d model.Doc, otherwise string) string {
	text := d.Description
	if text == "" {
		text = otherwise
	}
	return strings.TrimRight(text, "\n")
}
