package gocode

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/idemgen/idemgen/generator/model"
)

// maker is the function of a test file that makes the records of one event, so that the
// log has one short line per record. Its parameters are what differs between records.
type maker struct {
	of      *model.Event
	keyed   bool
	key     bool          // records have a record key
	value   bool          // and a value
	headers []makerHeader // that every record has
	more    bool          // some records have other headers too
}

type makerHeader struct {
	name  string
	fixed string // of the event type, if the event has one; else a parameter
	param string
}

// newMaker finds what the records of an event have in common; nil if there are none.
func newMaker(e *model.Event, records []Record) *maker {
	own := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Event != e.GoName })
	if len(own) == 0 {
		return nil
	}
	m := &maker{of: e}
	for _, h := range own[0].Headers {
		if m.inKey(h.Name) || !slices.ContainsFunc(own, func(r Record) bool { return !has(r, h.Name) }) {
			m.headers = append(m.headers, m.header(h))
		}
	}
	for _, r := range own {
		m.keyed = m.keyed || r.Keyed
		m.key = m.key || r.Key != nil
		m.value = m.value || r.Value != nil
		m.more = m.more || slices.ContainsFunc(r.Headers, func(h Header) bool { return !m.has(h.Name) })
	}
	return m
}

// inKey reports whether the header is part of a key of the event. Such a header is every
// record's, less those that are said to lack it.
func (m *maker) inKey(header string) bool {
	is := func(p model.KeySource) bool { return p.Header == header }
	return m.of.Key != nil && (slices.ContainsFunc(m.of.Key.Parts, is) ||
		slices.ContainsFunc(m.of.Key.Former, func(k model.FormerKey) bool { return slices.ContainsFunc(k.Parts, is) }))
}

// has reports whether the header has a place of its own in the function.
func (m *maker) has(header string) bool {
	return slices.ContainsFunc(m.headers, func(o makerHeader) bool { return o.name == header })
}

func has(r Record, header string) bool {
	return slices.ContainsFunc(r.Headers, func(h Header) bool { return h.Name == header })
}

func (m *maker) header(h Header) makerHeader {
	by := m.of.Topic.EventType
	if by != nil && by.Header == h.Name && len(m.of.Types) == 1 {
		return makerHeader{name: h.Name, fixed: string(h.Value)}
	}
	param := paramName(h.Name)
	for slices.ContainsFunc(m.headers, func(o makerHeader) bool { return o.param == param }) {
		param += "2"
	}
	return makerHeader{name: h.Name, param: param}
}

// paramName makes a parameter's name of a header's: Idempotency-Key -> idempotencyKey.
func paramName(header string) string {
	words := strings.FieldsFunc(header, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := "header"
	for i, w := range words {
		w = strings.ToLower(w)
		if i > 0 {
			w = upperFirst(w)
		}
		if i == 0 && !unicode.IsDigit(rune(w[0])) {
			name = ""
		}
		name += w
	}
	if token.IsKeyword(name) || slices.Contains([]string{"payload", "recordKey", "more", "append", "string", "byte", "idem", "idemtest"}, name) {
		name += "Header"
	}
	return name
}

func (m *maker) name() string { return unexported(m.of.GoName) + "Record" }

// event is a line of the log.
func (m *maker) event(r Record) code {
	var args []code
	if m.key {
		args = append(args, stringArg(string(r.Key)))
	}
	var lacks []string
	for _, h := range m.headers {
		value := ""
		if at := slices.IndexFunc(r.Headers, func(o Header) bool { return o.Name == h.name }); at >= 0 {
			value = string(r.Headers[at].Value)
		} else {
			lacks = append(lacks, h.name)
		}
		if h.param != "" {
			args = append(args, stringArg(value))
		}
	}
	if m.value {
		args = append(args, stringArg(string(r.Value)))
	}
	for _, h := range r.Headers {
		if !m.has(h.Name) {
			args = append(args, idem("Header").Values(pair("Name", lit(h.Name)), pair("Value", text("[]byte").Call(stringArg(string(h.Value))))))
		}
	}
	event := call(m.name(), args...)
	for _, name := range lacks {
		event.Dot("Without").Call(lit(name))
	}
	if m.keyed && !r.Keyed {
		event.Dot("ByOffset").Call()
	}
	return event
}

// stringArg prefers back-quotes for what is full of quotes.
func stringArg(s string) code {
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) {
		return rawString(s)
	}
	return lit(s)
}

// declare writes the function.
func (m *maker) declare(f *file) {
	var names []string
	message := []code{pair("Topic", lit(m.of.Topic.Name))}
	if m.key {
		names = append(names, "recordKey")
		message = append(message, text("Key: []byte(recordKey)"))
	}
	if m.value {
		message = append(message, text("Value: []byte(payload)"))
	}
	var headers []code
	for _, h := range m.headers {
		value := text("[]byte(%s)", h.param)
		if h.param == "" {
			value = text("[]byte(%q)", h.fixed)
		} else {
			names = append(names, h.param)
		}
		headers = append(headers, code(text("{Name: %q, Value:", h.name).Add(value).Add(text("}"))))
	}
	if m.value {
		names = append(names, "payload")
	}
	all := composite(slice(idem("Header")), headers)
	switch {
	case m.more && len(headers) > 0:
		message = append(message, pair("Headers", text("append").Call(all, text("more..."))))
	case m.more:
		message = append(message, text("Headers: more"))
	case len(headers) > 0:
		message = append(message, pair("Headers", all))
	}
	var params []code
	if len(names) > 0 {
		params = append(params, text("%s string", strings.Join(names, ", ")))
	}
	if m.more {
		params = append(params, text("more ...").Add(idem("Header")))
	}
	elems := []code{pair("Message", composite(idem("Message"), message))}
	if m.value && opaque(m.of) {
		elems = slices.Insert(elems, 0, code(text("Opaque: true")))
	}
	if m.keyed {
		elems = slices.Concat(m.identity(), elems)
	}
	f.fn("", "", m.name(), params, qual(idemtestPath, "Event"), func(g *group) {
		g.Return(composite(qual(idemtestPath, "Event"), elems))
	})
}

// opaque reports whether a record of the event takes effect whatever its payload holds.
func opaque(e *model.Event) bool {
	if by := e.Topic.EventType; by != nil && by.Header == "" && !e.Tombstone {
		return false
	}
	return !slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
		whole := f.Source.Kind == model.FromRecord && f.Source.Record == "value"
		return f.Source.Kind == model.FromPayload || whole && f.Type.Kind == model.JSON
	})
}

// identity is what the suite must know of the event's key.
func (m *maker) identity() []code {
	elems := []code{text("Keyed: true")}
	if m.of.Key.SamePartition {
		elems = append(elems, text("Here: true"))
	}
	loose, naming := uncompared(m.of)
	if len(loose) > 0 {
		elems = append(elems, pair("Loose", text("[]string").Values(literals(loose)...)))
	}
	if len(naming) > 0 {
		elems = append(elems, pair("Naming", text("[]string").Values(literals(naming)...)))
	}
	return elems
}
