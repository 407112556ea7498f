package syntax

import (
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// nameKind is the rule for one kind of name.
type nameKind struct {
	what    string // "field name"
	pattern *regexp.Regexp
	rule    string
	style   func(words []string) string // how the kind joins words; nil: no proposal
}

var (
	snakePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)
	upperPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,60}$`)
)

const (
	snakeRule = "a lower-case letter, then up to 40 lower-case letters, digits or _"
	upperRule = "an upper-case letter, then up to 60 letters or digits"
)

var (
	fieldNames    = nameKind{"field name", snakePattern, snakeRule, snake}
	keyPartNames  = nameKind{"record key part name", snakePattern, snakeRule, snake}
	tableNames    = nameKind{"table name", snakePattern, snakeRule, snake}
	columnNames   = nameKind{"column name", snakePattern, snakeRule, snake}
	typeNames     = nameKind{"type name", upperPattern, upperRule, pascal}
	eventNames    = nameKind{"event name", upperPattern, upperRule, pascal}
	consumerNames = nameKind{"consumer name", regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`),
		"a lower-case letter, then up to 62 lower-case letters, digits or -", kebab}
	lockNames    = nameKind{"lock name", consumerNames.pattern, consumerNames.rule, kebab}
	packageNames = nameKind{"package name", regexp.MustCompile(`^[a-z][a-z0-9]{0,40}$`),
		"a lower-case letter, then up to 40 lower-case letters or digits", flat}
	topicNames = nameKind{"topic name", regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`),
		"1 to 249 of the characters A-Z a-z 0-9 . _ -, as in Kafka", nil}
)

var (
	systemColumns  = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}
	generatedNames = []string{"Consumer", "Handler", "Option", "Config"}
	// refusedPackages are names that the go command keeps to itself: nobody can import init,
	// and the files of package documentation are not compiled.
	refusedPackages  = []string{"main", "init", "documentation", "internal", "vendor"}
	reservedElements = []string{"each", "result"}
)

// name checks a name against its kind and reports E201, E203 or E215.
func (w *walker) name(kind nameKind, pos Pos, text string) bool {
	if !kind.pattern.MatchString(text) || kind.what == topicNames.what && strings.Trim(text, ".") == "" {
		if !w.variable(pos, text) {
			w.ds.Add(pos, "E201", quote(text)+" is not a valid "+kind.what, kind.hint(text))
		}
		return false
	}
	reserved := func(hint string) bool {
		w.ds.Add(pos, "E203", kind.what+" "+quote(text)+" is reserved", hint)
		return false
	}
	switch kind.what {
	case fieldNames.what, keyPartNames.what:
		if slices.Contains(reservedElements, text) {
			return reserved("choose another name and keep the wire name with path:")
		}
	case tableNames.what:
		return freeTable(w, kind, pos, text)
	case columnNames.what:
		if slices.Contains(systemColumns, text) {
			w.ds.Add(pos, "E203", quote(text)+" is a system column of Postgres", "choose another name, and fill it from the field with set")
			return false
		}
	case typeNames.what, eventNames.what:
		if slices.Contains(generatedNames, text) {
			return reserved("the generated code declares this name: choose another one")
		}
	case packageNames.what:
		if ReservedPackage(text) {
			w.ds.Add(pos, "E215", quote(text)+" cannot be a Go package name here", "choose another name: this is the name in the Go package clause, not that of the folder")
			return false
		}
	}
	return true
}

// ReservedPackage reports whether Go has another use for a name that looks like that of a
// package.
func ReservedPackage(name string) bool {
	return token.IsKeyword(name) || slices.Contains(refusedPackages, name)
}

// hint proposes the name in the style of its kind, or says the rule.
func (k nameKind) hint(text string) string {
	proposal := ""
	if k.style != nil {
		proposal = k.style(words(text))
	}
	switch {
	case !k.pattern.MatchString(proposal) || !wordlike(text):
		return "a " + k.what + " is " + k.rule
	case k.what == fieldNames.what:
		return proposal + ": {type: ..., path: " + text + "}"
	}
	return `write "` + proposal + `"`
}

// wordlike is true for texts that are a name in another style.
func wordlike(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-. ", r))
	})
}

// FieldName is a name of a message's field as fields of a spec have it: orderId is order_id.
func FieldName(text string) string {
	name := snake(words(text))
	if name == "" || !unicode.IsLower(rune(name[0])) {
		name = strings.TrimSuffix("field_"+name, "_")
	}
	return name
}

// TypeName is a name of a message or an enum as types of a spec have it: order_line is OrderLine.
// What the generated code declares itself is another name.
func TypeName(text string) string {
	name := text
	if !upperPattern.MatchString(name) {
		name = pascal(words(name))
	}
	switch {
	case name == "" || !unicode.IsUpper(rune(name[0])):
		name = "Message" + name
	case slices.Contains(generatedNames, name):
		name += "Message"
	}
	return name
}

// words cuts a name of any style into lower-case words.
func words(text string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = nil
	}
	for i, r := range []rune(text) {
		switch {
		case strings.ContainsRune("_-. ", r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && !unicode.IsUpper([]rune(text)[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

func snake(words []string) string { return strings.Join(words, "_") }
func kebab(words []string) string { return strings.Join(words, "-") }
func flat(words []string) string  { return strings.Join(words, "") }

func pascal(words []string) string {
	var b strings.Builder
	for _, w := range words {
		r := []rune(w)
		b.WriteString(strings.ToUpper(string(r[:1])) + string(r[1:]))
	}
	return b.String()
}

// shape is that of a text which is a name.
func (k nameKind) shape() Shape { return Shape{Text: true, Pattern: k.pattern.String()} }

// nameText reads a text that is a name.
func (w *walker) nameText(e entry, kind nameKind) (*Text, bool) {
	t, ok := w.full(e)
	if !ok || !w.name(kind, t.Pos, t.Value) {
		return nil, false
	}
	return t, true
}

func nameValue[T any](kind nameKind, at func(*T) **Text) value[T] {
	return put(kind.shape(), at, func(w *walker, e entry) (*Text, bool) { return w.nameText(e, kind) })
}

// pathValue is a file or folder, relative to the spec. Whether it stays inside the
// repository is checked by who knows the repository: the generator.
func pathValue[T any](at func(*T) **Text) value[T] {
	return put(textShape, at, func(w *walker, e entry) (*Text, bool) {
		t, ok := w.full(e)
		if !ok {
			return nil, false
		}
		bad := strings.ContainsFunc(t.Value, func(r rune) bool { return r == '\\' || r == ':' || !unicode.IsPrint(r) })
		if bad || path.IsAbs(t.Value) || placeholder(t.Value) != "" {
			if !w.variable(t.Pos, t.Value) {
				w.ds.Add(t.Pos, "E201", quote(t.Value)+" is not a valid path", "write it relative to this spec, with / between the parts")
			}
			return nil, false
		}
		return t, true
	})
}
